"""The sessions there were, by an exchange's own calendar."""

import datetime

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
    try:
        calendar = exchange_calendars.get_calendar(name, start=start.isoformat(), end=end.isoformat())
    except ValueError as error:
        raise ParamsError(f"data.calendar: {name}: {' '.join(str(error).split())}") from None
    days = [session.date() for session in calendar.sessions_in_range(start.isoformat(), end.isoformat())]
    return pl.Series("date", days, dtype=pl.Date)
