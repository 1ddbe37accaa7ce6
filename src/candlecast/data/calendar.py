"""The sessions there were, by an exchange's own calendar."""

import datetime
import warnings

import polars as pl

from candlecast.errors import ParamsError


def exchange_sessions(name: str, start: datetime.date, end: datetime.date) -> pl.Series:
    """Return the sessions of an exchange from `start` to `end`, both inclusive, ascending.

    Raises `ParamsError` for an exchange nobody knows, or for dates before its calendar begins.
    """
    import exchange_calendars

    known = exchange_calendars.get_calendar_names()
    if name not in known:
        raise ParamsError(
            f"data.calendar: no exchange is called {name!r}; use its market identifier code, e.g. "
            f"XNYS, XLON, XETR, XTKS, XHKG"
        )
    first, last = start.isoformat(), end.isoformat()
    with warnings.catch_warnings():
        # What the library says of its own use of pandas is nothing a user can act on.
        warnings.simplefilter("ignore", DeprecationWarning)
        try:
            calendar = exchange_calendars.get_calendar(name, start=first, end=last)
            sessions = calendar.sessions_in_range(first, last)
        except ValueError as error:
            raise ParamsError(f"data.calendar: {name}: {' '.join(str(error).split())}") from None
    return pl.Series("date", [session.date() for session in sessions], dtype=pl.Date)
