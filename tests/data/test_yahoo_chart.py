import contextlib
import datetime
import json
from collections.abc import Callable
from typing import Any

import pytest
from data.fake_yahoo import Chart, walk, weekdays
from hypothesis import given, settings
from hypothesis import strategies as st

from candlecast.data.source import Fetched
from candlecast.data.yahoo_chart import NoChartError, read_chart

START, END = datetime.date(2020, 1, 6), datetime.date(2020, 3, 31)
NOW = datetime.datetime(2026, 1, 5, 12, tzinfo=datetime.UTC)
DAYS = weekdays("2020-01-01", 100)


def read(chart: Chart, now: datetime.datetime = NOW, end: datetime.date = END) -> Fetched:
    fetched = read_chart(json.loads(chart.answer(0, 1e12)), START, end, now)
    assert fetched is not None
    return fetched


def test_rows_before_the_start_and_after_the_end_are_left_out() -> None:
    chart = walk(DAYS)
    chart.everything = True
    bars = read(chart).bars
    assert (bars["date"][0], bars["date"][-1]) == (START, END)


@pytest.mark.parametrize(
    ("zone", "opens"),
    [("Europe/London", "00:00"), ("Asia/Tokyo", "09:00"), ("Asia/Jerusalem", "00:00"), ("UTC", "00:00")],
)
def test_no_day_is_shifted_by_a_zone_or_a_change_of_clocks(zone: str, opens: str) -> None:
    chart = walk(DAYS)
    chart.zone, chart.opens = zone, datetime.time.fromisoformat(opens)
    bars = read(chart).bars
    assert bars["date"].to_list() == [day for day in DAYS if START <= day <= END]


@pytest.mark.parametrize("hours", [1, 2])
def test_a_midnight_that_yahoo_gives_with_the_wrong_clocks_is_the_day_it_belongs_to(hours: int) -> None:
    answer = json.loads(walk(DAYS).answer(0, 1e12))
    midnight = datetime.datetime(2020, 2, 3, tzinfo=datetime.UTC).timestamp()
    answer["chart"]["result"][0]["meta"]["exchangeTimezoneName"] = "UTC"
    answer["chart"]["result"][0]["timestamp"][30] = midnight - 3600 * hours
    fetched = read_chart(answer, START, END, NOW)
    assert fetched is not None
    assert datetime.date(2020, 2, 3) in fetched.bars["date"]
    assert datetime.date(2020, 2, 2) not in fetched.bars["date"]


def test_without_an_adjusted_close_the_close_is_taken_and_a_note_says_so() -> None:
    chart = walk(DAYS)
    chart.adjusted = False
    fetched = read(chart)
    assert fetched.bars["adjusted_close"].equals(fetched.bars["close"])
    assert fetched.notes == ("no adjusted close: close taken as it is",)


@pytest.mark.parametrize(
    ("now", "last"),
    [
        ("2020-03-27T23:30:00+00:00", "2020-03-26"),  # 19:30 in New York: the day is not over
        ("2020-03-28T05:00:00+00:00", "2020-03-27"),  # 01:00 there
    ],
)
def test_todays_bar_is_left_out_by_the_exchanges_own_clock(now: str, last: str) -> None:
    fetched = read(walk(DAYS), datetime.datetime.fromisoformat(now))
    assert str(fetched.bars["date"][-1]) == last


def test_the_last_two_finished_sessions_are_provisional() -> None:
    tuesday = datetime.datetime(2020, 3, 24, 12, tzinfo=datetime.UTC)
    assert [str(day) for day in read(walk(DAYS), tuesday).provisional] == ["2020-03-20", "2020-03-23"]
    assert read(walk(DAYS)).provisional == ()  # years later


@pytest.mark.parametrize(
    "spoil",
    [
        lambda result: result["timestamp"].pop(),
        lambda result: result["indicators"]["quote"][0]["low"].pop(),
        lambda result: result["indicators"]["quote"][0].pop("low"),
        lambda result: result["indicators"].update(quote=[{}]),
        lambda result: result.pop("meta"),
        lambda result: result["meta"].update(exchangeTimezoneName="Mars/Olympus"),
        lambda result: result["timestamp"].__setitem__(3, "yesterday"),
        lambda result: result["timestamp"].__setitem__(3, 1e300),
        lambda result: result["indicators"]["quote"][0]["open"].__setitem__(3, "n/a"),
    ],
)
def test_an_answer_of_another_shape_is_no_chart(spoil: Callable[[Any], Any]) -> None:
    answer = json.loads(walk(DAYS).answer(0, 1e12))
    spoil(answer["chart"]["result"][0])
    with pytest.raises(NoChartError):
        read_chart(answer, START, END, NOW)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(0, 10**6), json_values), min_size=1, max_size=3))
def test_any_json_in_place_of_any_part_is_bars_or_no_chart(changes: list[tuple[int, Any]]) -> None:
    answer = json.loads(walk(DAYS[:6]).answer(0, 1e12))
    for choice, value in changes:
        places = list(_places(answer["chart"]))
        parent, key = places[choice % len(places)]
        parent[key] = value
    with contextlib.suppress(NoChartError):
        read_chart(answer, START, END, NOW)


def _places(value: Any) -> Any:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in list(items):
        yield value, key
        yield from _places(inner)
