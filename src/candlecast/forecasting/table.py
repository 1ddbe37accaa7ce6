"""A table somebody sends, as bars: each fault is an error that names the row, and nothing is repaired.

Files and vendors go through `candlecast.data`, whose checks count and repair by the parameters' policies. A
service has nobody to count for: it says what is wrong and leaves the table to its sender.
"""

import datetime
from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Any, Final

import polars as pl

from candlecast.data.adjust import adjust
from candlecast.data.checks import price_order, unadjusted_split
from candlecast.data.config import ChecksConfig
from candlecast.data.segments import number_segments
from candlecast.data.source import PRICES, RAW_BARS
from candlecast.errors import DataError
from candlecast.schema import BARS

NEEDED: Final = ("ticker", "date", "open", "high", "low", "close", "volume")
OPTIONAL: Final = ("adjusted_close",)
_NUMBERS: Final = ("open", "high", "low", "close", "adjusted_close", "volume")


def bars_of_table(columns: Mapping[str, Sequence[Any]], checks: ChecksConfig, max_gap: int) -> pl.DataFrame:
    """Return `schema.BARS` of raw daily bars, one row each, tickers in any order and dates ascending in each.

    Parameters
    ----------
    columns
        `NEEDED`, and `adjusted_close` where prices hold splits and dividends; without it they are taken as
        adjusted. Dates are dates, points in time at midnight, or ISO text; prices are of one currency.
    checks
        The tolerances of the order of prices and of a split.
    max_gap
        Sessions that may be missing between two bars; the sessions are the dates of all tickers together.

    Raises
    ------
    DataError
        A column is missing or unknown, a value is not a number, a bar is there twice, out of order or
        impossible, or prices jump as after a split that nothing adjusts for.
    """
    adjusted = "adjusted_close" in columns
    frame = _typed(columns)
    _refuse_faults(frame, checks, adjusted=adjusted)
    ordered = frame.sort("ticker", maintain_order=True)
    sessions = ordered["date"].unique().sort()
    histories = [
        adjust(history).select(
            history["ticker"],
            pl.col("date"),
            number_segments(history["date"], sessions, max_gap),
            *BARS.names()[3:],
        )
        for history in ordered.partition_by("ticker", maintain_order=True)
    ]
    return pl.concat(histories)


def example_table(bars: pl.DataFrame, needed: int) -> dict[str, list[Any]]:
    """Return the last `needed` bars of the first ticker that has them, as a table somebody could send.

    `bars` are `schema.BARS` sorted by ticker and date, adjusted.
    """
    last = pl.col("segment") == pl.col("segment").last().over("ticker")
    whole = bars.filter(last & (pl.len().over("ticker", "segment") >= needed))
    chosen = whole.filter(pl.col("ticker") == pl.col("ticker").first()).tail(needed)
    return chosen.select(NEEDED).to_dict(as_series=False)


def _typed(columns: Mapping[str, Sequence[Any]]) -> pl.DataFrame:
    missing = [name for name in NEEDED if name not in columns]
    unknown = [str(name) for name in columns if name not in (*NEEDED, *OPTIONAL)]
    if missing or unknown:
        faults = [f"lacks {', '.join(missing)}"] if missing else []
        faults += [f"has {', '.join(unknown)}, which no column is called"] if unknown else []
        raise DataError(
            f"the table {' and '.join(faults)}; its columns are {', '.join(NEEDED)} and, for prices "
            f"not adjusted yet, adjusted_close"
        )
    if not len(columns["ticker"]):
        raise DataError("the table has no rows")
    typed = [_tickers(columns["ticker"]), _dates(columns["date"])]
    typed += [_numbers(name, columns[name]) for name in _NUMBERS if name in columns]
    frame = pl.DataFrame(typed)
    if "adjusted_close" not in frame.columns:
        frame = frame.with_columns(pl.col("close").alias("adjusted_close"))
    return frame.select("ticker", *RAW_BARS.names())


def _tickers(values: Sequence[Any]) -> pl.Series:
    for row, value in enumerate(values):
        if not isinstance(value, str) or not value.strip():
            raise DataError(f"row {row}: {value!r} is no ticker")
    return pl.Series("ticker", list(values), dtype=pl.String)


def _dates(values: Sequence[Any]) -> pl.Series:
    dates = [_date(value) for value in values]
    if None in dates:
        row = dates.index(None)
        raise DataError(f"row {row}: {values[row]!r} is no date; write it as 2013-03-01")
    return pl.Series("date", dates, dtype=pl.Date)


def _date(value: Any) -> datetime.date | None:
    """Return a value as a date; a time of day may follow it, as in what pandas writes to JSON."""
    if isinstance(value, str):
        try:
            return datetime.datetime.fromisoformat(value).date()
        except ValueError:
            return None
    if not isinstance(value, datetime.date) or value != value:  # pandas' NaT is a datetime that differs
        return None
    return value.date() if isinstance(value, datetime.datetime) else value


def _numbers(name: str, values: Sequence[Any]) -> pl.Series:
    numbers = []
    for row, value in enumerate(values):
        is_number = isinstance(value, Real) and not isinstance(value, bool)
        if not is_number and value is not None:
            raise DataError(f"row {row}: {name} {value!r} is no number")
        try:
            numbers.append(None if value is None else float(value))
        except OverflowError:
            raise DataError(f"row {row}: {name} is too large a number") from None
    return pl.Series(name, numbers, dtype=pl.Float64)


def _refuse_faults(frame: pl.DataFrame, checks: ChecksConfig, *, adjusted: bool) -> None:
    """Raise for the first row of the first fault."""
    number = pl.all_horizontal(pl.col(name).is_finite() for name in (*PRICES, "volume"))
    before = pl.col("date").shift(1).over("ticker")
    faults: dict[str, pl.Series] = {
        "has a price or a volume that is missing, NaN or infinite": frame.select(
            ~number.fill_null(value=False)
        ).to_series(),
        "has a price of zero or below": frame.select(pl.min_horizontal(PRICES) <= 0).to_series(),
        "has a negative volume": frame["volume"] < 0,
        "is there twice; keep one": frame.select(pl.struct("ticker", "date").is_duplicated()).to_series(),
        "comes after a later one; sort each ticker's bars by date": frame.select(
            (pl.col("date") < before).fill_null(value=False)
        ).to_series(),
        "has a high below, or a low above, another of its prices": price_order(frame, checks),
    }
    for fault, faulty in faults.items():
        _refuse(frame, faulty, fault)
    if not adjusted:
        ordered = frame.sort("ticker", maintain_order=True)
        follows = ordered["ticker"] == ordered["ticker"].shift(1)
        _refuse(
            ordered,
            unadjusted_split(ordered, checks) & follows.fill_null(value=False),
            "opens at a split's ratio to the last close; add adjusted_close, which is close itself where the "
            "price really fell or rose",
        )


def _refuse(frame: pl.DataFrame, faulty: pl.Series, fault: str) -> None:
    if faulty.any():
        ticker, date = frame.filter(faulty).select("ticker", "date").row(0)
        more = int(faulty.sum()) - 1
        raise DataError(f"{ticker} {date}: the bar {fault}{f' ({more} more)' if more else ''}")
