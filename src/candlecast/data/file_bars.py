"""Turn a file's table into bars: match its columns, and read its dates and numbers."""

from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Final

import polars as pl

from candlecast.data.config import FilesConfig
from candlecast.data.headers import match_headers, period_column, shown
from candlecast.data.source import RAW_BARS, Fetched
from candlecast.data.tables import Table, read_text
from candlecast.data.text_dates import is_dated, parse_dates
from candlecast.data.text_numbers import parse_numbers
from candlecast.errors import DataError

_DAILY: Final = {"d", "1d", "daily", "day", "1440"}


@dataclass(frozen=True, slots=True)
class FileBars:
    """Bars of a file, of one ticker or many, in the file's order."""

    bars: pl.DataFrame  # RAW_BARS, and `ticker` where the file has such a column
    notes: tuple[str, ...]

    @property
    def tickers(self) -> list[str]:
        """The tickers that the file names; empty without such a column."""
        if "ticker" not in self.bars.columns:
            return []
        names: list[str] = self.bars["ticker"].unique().sort().to_list()
        return names

    @property
    def fetched(self) -> Fetched:
        """All bars, as of one ticker."""
        return Fetched(bars=self.bars.select(RAW_BARS.names()), notes=self.notes)

    def by_ticker(self) -> dict[str, Fetched]:
        """Return each ticker's bars."""
        parts = self.bars.partition_by("ticker", as_dict=True, include_key=False, maintain_order=True)
        return {str(key[0]): Fetched(bars=part, notes=self.notes) for key, part in parts.items()}


def text_bars(file: Path, config: FilesConfig) -> FileBars:
    """Read a text file, or raise `DataError` with the line and the key that decides."""
    table = _without_footer(read_text(file, config), config)
    notes = [f"{file.name}: last line left out, a footer: {table.footer[:60]!r}"] if table.footer else []
    return _bars(table, config, notes)


def binary_bars(part: pl.LazyFrame, file: Path, config: FilesConfig) -> FileBars:
    """Read a part of a Parquet or Feather file, the columns that matter alone."""
    headers = part.collect_schema().names()
    places = match_headers(file, headers, config)
    used = sorted({*places.values(), *([period] if (period := period_column(headers)) is not None else [])})
    try:
        frame = part.select(headers[place] for place in used).collect()
    except (pl.exceptions.PolarsError, OSError) as error:
        raise DataError(f"{file}: cannot be read: {str(error).strip().splitlines()[0][:160]}") from None
    frame = frame.rename({headers[place]: str(place) for place in used})
    return _bars(Table(file, tuple(headers), frame, None, None), config, [])


def _bars(table: Table, config: FilesConfig, notes: list[str]) -> FileBars:
    places = match_headers(table.file, table.headers, config)
    if table.frame.is_empty():
        raise DataError(f"{table.file}: has columns and no rows")
    _require_daily(table)
    columns: dict[str, pl.Series] = {}
    if "ticker" in places:
        columns["ticker"] = _tickers(table, places["ticker"])
    for field in RAW_BARS:
        if field == "adjusted_close" and field not in places:
            columns[field] = columns["close"].rename(field)
            notes.append("no adjusted close: close taken as it is")
            continue
        column = table.frame[str(places[field])]
        what = f"{table.file}: {shown(table.headers[places[field]])}"
        if field == "date":
            columns[field] = parse_dates(column, config, what, table.place).rename(field)
        else:
            columns[field] = _numbers(column, field, config, what, partial(table.place)).rename(field)
    return FileBars(pl.DataFrame(list(columns.values())), tuple(notes))


def _numbers(column: pl.Series, field: str, config: FilesConfig, what: str, place: Any) -> pl.Series:
    if column.dtype.is_numeric():
        return column.cast(pl.Float64)
    if column.dtype == pl.String:
        return parse_numbers(column, config.decimal, field == "volume", what, place)
    if column.dtype == pl.Null:
        return column.cast(pl.Float64)
    raise DataError(f"{what}: {column.dtype} is no number")


def _tickers(table: Table, place: int) -> pl.Series:
    names = table.frame[str(place)].cast(pl.String).str.strip_chars().rename("ticker")
    missing = (names.is_null() | (names == "")).fill_null(value=True).arg_true()
    if len(missing):
        raise DataError(f"{table.file}: {table.place(int(missing[0]))} has no ticker")
    return names


def _without_footer(table: Table, config: FilesConfig) -> Table:
    """Leave out a last line without a date that has no number where the prices are: a remark, not a bar."""
    if table.frame.height < 2 or table.lines is None or config.date_format is not None:
        return table
    places = match_headers(table.file, table.headers, config)
    last = table.frame.row(-1)
    prices = [last[places[name]].strip() for name in ("open", "high", "low", "close")]
    if is_dated(last[places["date"]]) or any(text[:1].isdigit() for text in prices):
        return table
    return replace(table, frame=table.frame[:-1], lines=table.lines[:-1], footer=",".join(last))


def _require_daily(table: Table) -> None:
    place = period_column(table.headers)
    if place is None:
        return
    periods = table.frame[str(place)].cast(pl.String).str.strip_chars().str.to_lowercase()
    other = periods.filter(~periods.is_in(list(_DAILY)))
    if len(other):
        raise DataError(
            f"{table.file}: {shown(table.headers[place])} is {other[0]!r}; only daily bars (D) are read"
        )
