"""The faults that show only beside other histories: missing sessions, an early end, too short a stretch."""

import numpy as np
import polars as pl

from candlecast.data.config import DataConfig
from candlecast.data.segments import number_segments
from candlecast.data.validate import Judge


def all_sessions(histories: dict[str, pl.DataFrame], calendar: pl.Series | None) -> pl.Series:
    """Return every session, ascending: the union of all dates, and the calendar's if there is one."""
    dates = np.empty(0, dtype="datetime64[D]") if calendar is None else calendar.to_numpy()
    for bars in histories.values():  # one at a time: all at once would be a second copy of a column
        dates = np.union1d(dates, bars["date"].to_numpy())
    return pl.Series("date", dates, dtype=pl.Date)


def segmented(judge: Judge, bars: pl.DataFrame, sessions: pl.Series, config: DataConfig) -> pl.DataFrame:
    """Return one history's bars with their segment, or raise as `Judge.rule` does."""
    dates = bars["date"]
    inside = sessions.filter(sessions.is_between(dates[0], dates[-1]))
    missing = inside.filter(~inside.is_in(dates.implode()))
    if len(missing):
        judge.rule("missing_sessions", len(missing), missing)
    after = sessions.filter(sessions > dates[-1])
    if len(after) > config.max_gap:
        judge.rule("stale_tail", len(after), after, f"its last bar is of {dates[-1]}")
    segment = number_segments(dates, sessions, config.max_gap)
    longest = int(segment.value_counts()["count"].max())  # type: ignore[arg-type]
    if longest < config.min_bars:
        judge.rule("too_short", longest, dates)
    return bars.with_columns(segment)
