"""The sessions there were, by an exchange's own calendar."""

import datetime
import warnings
from typing import Final

import polars as pl

from candlecast.errors import DataError, ParamsError

# The library refuses bounds without a session near them; no exchange is closed for longer than this.
_MARGIN: Final = datetime.timedelta(days=14)


def check_exchange(name: str) -> None:
    """Raise `DataError` for an exchange nobody knows."""
    import exchange_calendars

    if name not in exchange_calendars.get_calendar_names():
        raise DataError(
            f"data.calendar: no exchange is called {name!r}; use its market identifier code, e.g. "
            f"XNYS, XLON, XETR, XTKS, XHKG, or null for none"
        )


def exchange_sessions(name: str, start: datetime.date, end: datetime.date) -> pl.Series:
    """Return the sessions of an exchange from `start` to `end`, both inclusive, ascending.

    Neither date need be a session. Raises `DataError` for an exchange nobody knows, `ParamsError` for dates
    that its calendar does not reach.
    """
    import exchange_calendars

    check_exchange(name)
    with warnings.catch_warnings():
        # What the library says of its own use of pandas is nothing a user can act on.
        warnings.simplefilter("ignore", DeprecationWarning)
        try:
            kind = type(exchange_calendars.get_calendar(name))
            earliest, latest = kind.bound_min(), kind.bound_max()
            first, last = start - _MARGIN, end + _MARGIN
            if earliest is not None:
                first = min(start, max(first, earliest.date()))
            if latest is not None:
                last = max(end, min(last, latest.date()))
            calendar = exchange_calendars.get_calendar(name, start=first.isoformat(), end=last.isoformat())
        except (ValueError, OverflowError) as error:
            raise ParamsError(f"data.calendar: {name}: {' '.join(str(error).split())}") from None
    days = [session.date() for session in calendar.sessions]
    return pl.Series("date", [day for day in days if start <= day <= end], dtype=pl.Date)
