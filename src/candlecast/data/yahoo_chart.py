"""Read bars from Yahoo's own answer, as it is.

yfinance's frame has rows dropped, doubles removed and a missing volume set to 0; here nothing is, so that the
checks can count it.
"""

import datetime
from typing import Any, Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import numpy as np
import polars as pl

from candlecast.data.source import RAW_BARS, Fetched

_UNSETTLED: Final = 2  # finished sessions that Yahoo may still correct
# What Python and polars say to a part that is missing or of another kind.
_OTHER_SHAPES: Final = (
    *(KeyError, TypeError, IndexError, AttributeError, ValueError, OverflowError, OSError),
    *(ZoneInfoNotFoundError, pl.exceptions.PolarsError),
)


class NoChartError(ValueError):
    """The answer is not a chart; the message says in what."""


def read_chart(
    answer: Any, start: datetime.date, end: datetime.date, now: datetime.datetime
) -> Fetched | None:
    """Return the finished bars from `start` to `end`, both inclusive, or None where there is none.

    Today's bar, by the exchange's own clock, is left out: it is not finished, or may not be.

    Parameters
    ----------
    answer
        The parsed body of a chart request.
    start, end
        Rows outside are left out: Yahoo adds some.
    now
        The present, with a time zone.

    Raises
    ------
    NoChartError
        A part is missing, of another kind, or of another length than the rest.
    """
    try:
        result = answer["chart"]["result"][0]
        zone = ZoneInfo(result["meta"]["exchangeTimezoneName"])
        dates = [_session(stamp, zone) for stamp in result.get("timestamp") or []]
        frame = _frame(result["indicators"], dates) if dates else None
        splits = _splits((result.get("events") or {}).get("splits") or {}, zone)
    except NoChartError:
        raise
    except _OTHER_SHAPES as error:
        raise NoChartError(f"{type(error).__name__}: {' '.join(str(error).split())[:120]}") from None
    if frame is None:
        return None
    today = now.astimezone(zone).date()
    bars = frame.filter(pl.col("date").is_between(start, min(end, today - datetime.timedelta(days=1))))
    if bars.is_empty():
        return None
    return Fetched(
        bars=bars,
        currency=result["meta"].get("currency"),
        splits=splits,
        provisional=tuple(sorted({day for day in bars["date"] if unsettled(day, today)})),
        notes=() if "adjclose" in result["indicators"] else ("no adjusted close: close taken as it is",),
    )


def unsettled(day: datetime.date, today: datetime.date) -> bool:
    """Whether a bar is one of the last two finished sessions, which Yahoo often fills or corrects later."""
    return int(np.busday_count(day, today)) <= _UNSETTLED


def _session(stamp: Any, zone: ZoneInfo) -> datetime.date:
    moment = datetime.datetime.fromtimestamp(stamp, zone)
    if (
        moment.hour >= 22 and moment.minute == 0
    ):  # midnight, on a day on which Yahoo missed a change of clocks
        moment += datetime.timedelta(hours=2)
    return moment.date()


def _frame(indicators: Any, dates: list[datetime.date]) -> pl.DataFrame:
    quote = indicators["quote"][0]
    if not quote:
        raise NoChartError("its quote is empty")
    adjusted = indicators["adjclose"][0]["adjclose"] if "adjclose" in indicators else quote["close"]
    columns = {
        **{name: quote[name] for name in ("open", "high", "low", "close")},
        "adjusted_close": adjusted,
        "volume": quote["volume"],
    }
    for name, values in columns.items():
        if len(values) != len(dates):
            raise NoChartError(f"{len(values)} values of {name} for {len(dates)} dates")
    numbers = {
        name: pl.Series([None if value is None else float(value) for value in values], dtype=pl.Float64)
        for name, values in columns.items()
    }
    return pl.DataFrame({"date": pl.Series(dates, dtype=pl.Date), **numbers}).select(RAW_BARS.names())


def _splits(events: Any, zone: ZoneInfo) -> dict[datetime.date, float]:
    return {
        _session(event["date"], zone): float(event["numerator"]) / float(event["denominator"])
        for event in events.values()
        if event["denominator"]
    }
