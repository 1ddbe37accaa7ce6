import datetime
from collections.abc import Callable

import polars as pl
import pytest
from data.fake_yahoo import walk, weekdays

from candlecast.data.adjust import adjust
from candlecast.data.config import DataConfig
from candlecast.data.continuity import all_sessions, segmented
from candlecast.data.quality import Finding
from candlecast.data.source import RAW_BARS
from candlecast.data.validate import Judge, LeftOutError
from candlecast.errors import DataError

Build = Callable[..., DataConfig]
BARS = adjust(pl.DataFrame(walk(weekdays("2020-01-01", 60)).rows, schema=RAW_BARS, orient="row"))
SESSIONS = BARS["date"]


def without(*rows: int) -> pl.DataFrame:
    return BARS.filter(~pl.int_range(pl.len()).is_in(list(rows)))


def run(bars: pl.DataFrame, config: DataConfig) -> tuple[pl.DataFrame, list[Finding]]:
    judge = Judge("AAA", config.checks)
    return segmented(judge, bars, SESSIONS, config), judge.findings


def test_a_session_without_a_bar_is_counted_and_not_filled(data_config: Build) -> None:
    bars, findings = run(without(7, 8), data_config(min_bars=10))
    assert bars.height == 58
    assert bars["segment"].to_list() == [0] * 58
    (finding,) = findings
    assert (finding.check, finding.count, finding.first) == ("missing_sessions", 2, str(SESSIONS[7]))


def test_a_gap_longer_than_max_gap_cuts_the_history(data_config: Build) -> None:
    config = data_config(min_bars=10, max_gap=3)
    assert run(without(20, 21, 22), config)[0]["segment"].max() == 0
    assert run(without(20, 21, 22, 23), config)[0]["segment"].max() == 1


def test_a_history_cut_into_pieces_too_short_for_a_window_is_left_out(data_config: Build) -> None:
    config = data_config(min_bars=40, max_gap=3)
    with pytest.raises(LeftOutError):
        run(without(*range(28, 33)), config)
    assert run(without(*range(5, 10)), config)[0].height == 55


def test_an_early_end_is_a_stale_tail_from_beyond_max_gap_on(data_config: Build) -> None:
    config = data_config(min_bars=10, max_gap=3)
    assert run(BARS.head(57), config)[1] == []
    (finding,) = run(BARS.head(56), config)[1]
    assert (finding.check, finding.count) == ("stale_tail", 4)
    assert finding.detail == f"its last bar is of {SESSIONS[55]}"


def test_a_late_start_is_no_fault(data_config: Build) -> None:
    assert run(BARS.tail(20), data_config(min_bars=10))[1] == []


def test_policies_hold_here_too(data_config: Build) -> None:
    with pytest.raises(DataError, match=r"AAA: 1 sessions without a bar.*data\.checks\.missing_sessions"):
        run(without(7), data_config(min_bars=10, checks__missing_sessions="error"))
    with pytest.raises(LeftOutError):
        run(BARS.head(40), data_config(min_bars=10, checks__stale_tail="drop_ticker"))


def test_sessions_are_the_union_of_all_dates_and_the_calendars() -> None:
    histories = {"AAA": BARS.head(20), "BBB": BARS[25:30]}
    assert all_sessions(histories, None).to_list() == [*SESSIONS[:20], *SESSIONS[25:30]]
    assert all_sessions(histories, SESSIONS.slice(10, 30)).to_list() == SESSIONS[:40].to_list()
    assert all_sessions({}, SESSIONS).to_list() == SESSIONS.to_list()


def test_a_calendar_sees_the_early_end_of_a_history_that_is_alone(data_config: Build) -> None:
    bars = BARS.head(40)
    judge = Judge("AAA", data_config().checks)
    segmented(judge, bars, all_sessions({"AAA": bars}, SESSIONS), data_config(min_bars=10))
    assert [(finding.check, finding.count) for finding in judge.findings] == [("stale_tail", 20)]


def test_a_calendar_sees_a_hole_that_all_share(data_config: Build) -> None:
    hole = BARS.filter(pl.col("date") != datetime.date(2020, 1, 14))
    sessions = all_sessions({"AAA": hole}, SESSIONS)
    judge = Judge("AAA", data_config().checks)
    segmented(judge, hole, sessions, data_config(min_bars=10))
    assert [finding.check for finding in judge.findings] == ["missing_sessions"]
