"""Cut a history where it has a gap, so that no window and no indicator reaches across it."""

import polars as pl


def number_segments(dates: pl.Series, sessions: pl.Series, max_gap: int) -> pl.Series:
    """Return the segment number (Int32, from 0) of each of one ticker's dates.

    Parameters
    ----------
    dates
        One ticker's dates, ascending.
    sessions
        Every session there was, ascending and without repetition: the union of the universe's dates.
    max_gap
        Sessions that may be missing between two bars of one segment.
    """
    position = sessions.search_sorted(dates).cast(pl.Int64)
    missing = position.diff().fill_null(1) - 1
    return (missing > max_gap).cast(pl.Int32).cum_sum().cast(pl.Int32).alias("segment")
