"""Dates as vendors write them; of two readings none is guessed, and a stamp keeps its own local date."""

import datetime
import re
from collections.abc import Callable
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import polars as pl

from candlecast.data.config import FilesConfig
from candlecast.errors import DataError, ParamsError

Place = Callable[[int], str]

_TIME: Final = r"(?:[T ,]+\d{1,2}:\d{2}(?::\d{2}(?:\.\d+)?)?\s*(?:[AaPp][Mm])?)?"
_OFFSET: Final = r"(?:\s*(?:Z|UTC|[+-]\d{2}:?\d{2}))?"
# A pattern whose first group is the date, and the formats that may read that group.
_SHAPES: Final = (
    (rf"^(\d{{4}}-\d{{1,2}}-\d{{1,2}}){_TIME}{_OFFSET}$", ("%Y-%m-%d",)),
    (rf"^(\d{{4}}/\d{{1,2}}/\d{{1,2}}){_TIME}{_OFFSET}$", ("%Y/%m/%d",)),
    (rf"^(\d{{4}}\.\d{{1,2}}\.\d{{1,2}}){_TIME}{_OFFSET}$", ("%Y.%m.%d",)),
    (rf"^(\d{{8}}){_TIME}$", ("%Y%m%d",)),
    (rf"^(\d{{1,2}}/\d{{1,2}}/\d{{4}}){_TIME}$", ("%d/%m/%Y", "%m/%d/%Y")),
    (rf"^(\d{{1,2}}-\d{{1,2}}-\d{{4}}){_TIME}$", ("%d-%m-%Y", "%m-%d-%Y")),
    (rf"^(\d{{1,2}}\.\d{{1,2}}\.\d{{4}}){_TIME}$", ("%d.%m.%Y", "%m.%d.%Y")),
    (rf"^([A-Za-z]{{3}} \d{{1,2}}, \d{{4}}){_TIME}$", ("%b %d, %Y",)),
    (rf"^([A-Za-z]{{4,9}} \d{{1,2}}, \d{{4}}){_TIME}$", ("%B %d, %Y",)),
    (rf"^(\d{{1,2}}-[A-Za-z]{{3}}-\d{{4}}){_TIME}$", ("%d-%b-%Y",)),
    (rf"^(\d{{1,2}} [A-Za-z]{{3}} \d{{4}}){_TIME}$", ("%d %b %Y",)),
)
_YEARS: Final = (1800, 2200)


def parse_dates(column: pl.Series, config: FilesConfig, what: str, place: Place) -> pl.Series:
    """Return a column of dates, stamps or text as Date, without null.

    Raises `DataError` with the place of a value that is no date, or with both readings where there are two
    and `data.files.date_format` must decide.
    """
    if column.dtype == pl.Date:
        dates = column
    elif isinstance(column.dtype, pl.Datetime):
        zone = _zone(config)
        dates = (column.dt.convert_time_zone(zone) if zone and column.dtype.time_zone else column).dt.date()
    elif column.dtype.is_integer():
        dates = _from_text(column.cast(pl.String), config, what)
    elif column.dtype == pl.String:
        dates = _from_text(column.str.strip_chars(), config, what)
    else:
        raise DataError(f"{what}: {column.dtype} is no date")
    _require(dates, column, what, place)
    return dates


def is_dated(text: str) -> bool:
    """Whether a text has the shape of a date, any of those we read."""
    return any(re.match(pattern, text.strip()) for pattern, _ in _SHAPES) or text.strip().isdigit()


def _require(dates: pl.Series, column: pl.Series, what: str, place: Place) -> None:
    outside = (~dates.dt.year().is_between(*_YEARS)).fill_null(value=True).arg_true()
    if len(outside):
        row = int(outside[0])
        value = column[row]
        known = "there is no date" if value is None or value == "" else f"{str(value)[:40]!r} is no date"
        hint = "; set data.files.date_format, e.g. %d/%m/%Y" if column.dtype == pl.String else ""
        raise DataError(f"{what}, {place(row)}: {known}{hint if value else ''}")


def _from_text(text: pl.Series, config: FilesConfig, what: str) -> pl.Series:
    zone = _zone(config)
    if config.date_format is not None:
        return _by_format(text, config.date_format)
    if zone is not None and text.str.contains(r"[T ]\d{2}:\d{2}.*(?:Z|[+-]\d{2}:?\d{2})$").all():
        return _in_zone(text, ZoneInfo(zone))
    first = next((value for value in text if value), "")
    for pattern, formats in _SHAPES:
        if re.match(pattern, first):
            return _by_shape(text.str.extract(pattern), formats, what)
    if text.str.contains(r"^-?\d{9,10}$|^-?\d{12,13}$").fill_null(value=False).all():
        return _from_epoch(text, config, what)
    return pl.Series([None] * len(text), dtype=pl.Date)


def _by_format(text: pl.Series, date_format: str) -> pl.Series:
    try:
        if re.search(r"%[HIMSfpzZT]", date_format):
            return text.str.to_datetime(date_format, strict=False).dt.date()
        return text.str.to_date(date_format, strict=False)
    except pl.exceptions.PolarsError as error:
        raise ParamsError(
            f"data.files.date_format: {date_format!r}: {str(error).splitlines()[0]}; use e.g. %d/%m/%Y"
        ) from None


def _by_shape(text: pl.Series, formats: tuple[str, ...], what: str) -> pl.Series:
    """Read the dates by the one format that fits most; two that fit all are no answer."""
    readings = [text.str.to_date(name, strict=False) for name in formats]
    best = max(readings, key=lambda dates: dates.count())
    for dates in readings:
        differing = (dates != best).arg_true()
        if dates.count() == best.count() and len(differing):
            row = int(differing[0])
            raise DataError(
                f"{what}: {text[row]} may be {best[row]} or {dates[row]}, and all other values fit both; "
                f"set data.files.date_format to {' or '.join(formats)}"
            )
    return best


def _from_epoch(text: pl.Series, config: FilesConfig, what: str) -> pl.Series:
    seconds = text.str.contains(r"^-?\d{9,10}$").all()
    moments = (text.cast(pl.Int64) * (1000 if seconds else 1)).cast(pl.Datetime("ms", "UTC"))
    zone = _zone(config)
    if zone is None and not (moments.dt.time() == datetime.time()).all():
        raise DataError(
            f"{what}: {text[0]} is a point in time ({moments[0]}), whose date depends on the place; "
            f"set data.files.timezone, e.g. America/New_York"
        )
    return (moments.dt.convert_time_zone(zone) if zone else moments).dt.date()


def _in_zone(text: pl.Series, zone: ZoneInfo) -> pl.Series:
    days: list[datetime.date | None] = []
    for value in text:
        try:
            days.append(datetime.datetime.fromisoformat(value).astimezone(zone).date())
        except (ValueError, OverflowError):
            days.append(None)
    return pl.Series(days, dtype=pl.Date)


def _zone(config: FilesConfig) -> str | None:
    if config.timezone is None:
        return None
    try:
        return ZoneInfo(config.timezone).key
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise ParamsError(
            f"data.files.timezone: {config.timezone!r} is no time zone; e.g. Europe/London"
        ) from None
