import datetime

import polars as pl

from candlecast.data.segments import number_segments

SESSIONS = pl.Series([datetime.date(2020, 1, day) for day in range(1, 21)])


def test_a_gap_of_max_gap_sessions_is_spanned_and_one_more_starts_a_segment() -> None:
    dates = SESSIONS.gather([0, 1, 5, 6, 11, 12])  # 3 sessions missing, then 4
    assert number_segments(dates, SESSIONS, max_gap=3).to_list() == [0, 0, 0, 0, 1, 1]


def test_days_on_which_nobody_traded_are_no_gap() -> None:
    sessions = SESSIONS.gather([0, 1, 14, 15])
    assert number_segments(sessions, sessions, max_gap=0).to_list() == [0, 0, 0, 0]


def test_a_history_that_starts_late_is_one_segment() -> None:
    assert number_segments(SESSIONS.slice(9, 4), SESSIONS, max_gap=0).to_list() == [0, 0, 0, 0]
