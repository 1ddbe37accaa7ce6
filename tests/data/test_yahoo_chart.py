import contextlib
import datetime
import itertools
import json
from collections.abc import Callable
from typing import Any

import pytest
from data.fake_yahoo import BROKEN, Chart, FakeYahoo, walk, weekdays
from hypothesis import given, settings
from hypothesis import strategies as st

from candlecast.data.config import DataConfig
from candlecast.data.snapshot import Snapshot, snapshot_of
from candlecast.data.source import Fetched
from candlecast.data.yahoo import YahooSource
from candlecast.data.yahoo_chart import NoChartError, read_chart
from candlecast.errors import DataError, UnreachableError

START, END = datetime.date(2020, 1, 6), datetime.date(2020, 3, 31)
NOW = datetime.datetime(2026, 1, 5, 12, tzinfo=datetime.UTC)
DAYS = weekdays("2020-01-01", 100)


def read(chart: Chart, now: datetime.datetime = NOW, end: datetime.date = END) -> Fetched:
    fetched = read_chart(json.loads(chart.answer(0, 1e12)), START, end, now)
    assert fetched is not None
    return fetched


@pytest.fixture
def snapshot(
    yahoo: Callable[..., YahooSource], fake_yahoo: FakeYahoo, data_config: Callable[..., DataConfig]
) -> Callable[..., Snapshot]:
    """Take a snapshot of fake Yahoo's tickers, all that it has unless named."""

    def take(*tickers: str, **changes: Any) -> Snapshot:
        names = tickers or tuple(fake_yahoo.charts)
        usual = {"source": "yahoo", "tickers": names, "start": START, "end": END, "min_bars": 20}
        return snapshot_of(yahoo(), data_config(**{**usual, **changes}))

    return take


def with_rows(chart: Chart, changes: dict[int, dict[int, Any]]) -> Chart:
    """Change values: {row: {position: value}}, where position 1 is the open and 6 the volume."""
    for number, values in changes.items():
        row = list(chart.rows[number])
        for position, value in values.items():
            row[position] = value
        chart.rows[number] = tuple(row)
    return chart


def test_rows_before_the_start_and_after_the_end_are_left_out() -> None:
    chart = walk(DAYS)
    chart.everything = True
    bars = read(chart).bars
    assert (bars["date"][0], bars["date"][-1]) == (START, END)


def test_rows_without_any_value_are_dropped_and_counted(
    fake_yahoo: FakeYahoo, snapshot: Callable[..., Snapshot]
) -> None:
    nothing = dict.fromkeys(range(1, 7))
    fake_yahoo.charts["AAA"] = with_rows(walk(DAYS), {30: nothing, 31: nothing})
    taken = snapshot()
    assert taken.manifest.quality.counts()["missing_price"] == 2
    assert taken.manifest.histories["AAA"].rows == 60


def test_a_session_with_a_volume_but_no_prices_is_dropped_and_counted(
    fake_yahoo: FakeYahoo, snapshot: Callable[..., Snapshot]
) -> None:
    fake_yahoo.charts["AAA"] = with_rows(walk(DAYS), {30: dict.fromkeys((1, 2, 3, 4, 5), float("nan"))})
    assert snapshot().manifest.quality.counts()["missing_price"] == 1


def test_a_missing_volume_is_not_taken_for_zero(
    fake_yahoo: FakeYahoo, snapshot: Callable[..., Snapshot]
) -> None:
    fake_yahoo.charts["AAA"] = with_rows(walk(DAYS), {30: {6: None}})
    assert snapshot().manifest.quality.counts()["missing_volume"] == 1


def test_an_infinite_adjusted_close_is_dropped_and_spreads_to_no_other_price(
    fake_yahoo: FakeYahoo, snapshot: Callable[..., Snapshot]
) -> None:
    fake_yahoo.charts["AAA"] = with_rows(walk(DAYS), {30: {5: float("-inf")}})
    taken = snapshot()
    assert taken.manifest.quality.counts()["missing_price"] == 1
    assert taken.bars.height == 61
    assert taken.bars["low"].is_finite().all()


def test_the_same_day_twice_and_disorder_are_seen_although_yfinance_hides_them(
    fake_yahoo: FakeYahoo, snapshot: Callable[..., Snapshot]
) -> None:
    chart = walk(DAYS)
    chart.rows[20], chart.rows[21] = chart.rows[21], chart.rows[20]
    chart.rows.insert(40, chart.rows[40])
    fake_yahoo.charts["AAA"] = chart
    counts = snapshot().manifest.quality.counts()
    assert (counts["repeated_row"], counts["unsorted_dates"]) == (1, 1)


def test_two_different_bars_of_a_day_stop_the_stage_unless_told_otherwise(
    fake_yahoo: FakeYahoo, snapshot: Callable[..., Snapshot]
) -> None:
    chart = walk(DAYS)
    other = list(chart.rows[40])
    other[6] = 7
    chart.rows.insert(40, tuple(other))
    fake_yahoo.charts["AAA"] = chart
    with pytest.raises(DataError, match=r"AAA: 2 bars of a date that has .*data\.checks\.conflicting_rows"):
        snapshot()
    assert snapshot(checks__conflicting_rows="drop_row").manifest.histories["AAA"].rows == 61


def test_pence_among_pounds_stop_the_stage(fake_yahoo: FakeYahoo, snapshot: Callable[..., Snapshot]) -> None:
    chart = walk(DAYS)
    for number in (30, 31):
        chart.rows[number] = (
            chart.rows[number][0],
            *(100 * value for value in chart.rows[number][1:6]),
            1,
        )
    fake_yahoo.charts["LLOY.L"] = chart
    with pytest.raises(DataError, match=r"LLOY\.L: 2 bars at about 100 times"):
        snapshot()


def test_a_split_that_is_listed_but_missing_from_earlier_prices_is_flagged_as_that(
    fake_yahoo: FakeYahoo, snapshot: Callable[..., Snapshot]
) -> None:
    chart = walk(DAYS)
    chart.rows[50:] = [(row[0], *(value / 2 for value in row[1:6]), 2 * row[6]) for row in chart.rows[50:]]
    chart.splits[chart.rows[50][0]] = (2, 1)
    fake_yahoo.charts["AAA"] = chart
    (finding,) = snapshot().manifest.quality.findings
    assert finding.check == "unadjusted_split"
    assert finding.detail == "a split of 2 is listed that day and missing from earlier prices"
    assert finding.first == str(chart.rows[50][0])


def test_a_history_of_five_rows_is_left_out(fake_yahoo: FakeYahoo, snapshot: Callable[..., Snapshot]) -> None:
    fake_yahoo.charts |= {"AAA": walk(DAYS), "NEW": walk(DAYS[-42:-37])}
    assert snapshot().manifest.left_out == {"NEW": "5 sessions, fewer than data.min_bars 20"}


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


def test_the_currency_is_recorded(fake_yahoo: FakeYahoo, snapshot: Callable[..., Snapshot]) -> None:
    fake_yahoo.charts["LLOY.L"] = walk(DAYS)
    fake_yahoo.charts["LLOY.L"].currency = "GBp"
    assert snapshot().manifest.histories["LLOY.L"].currency == "GBp"


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


def test_of_200_tickers_one_failing_is_named_and_the_others_are_fetched(
    fake_yahoo: FakeYahoo, yahoo: Callable[..., YahooSource], data_config: Callable[..., DataConfig]
) -> None:
    names = tuple(f"T{number:03d}" for number in range(200))
    fake_yahoo.charts = dict.fromkeys(names, walk(DAYS[:10]))
    fake_yahoo.faults["T077"] = itertools.repeat(BROKEN)
    config = data_config(source="yahoo", tickers=names, start=START, end=END, min_bars=5)
    with pytest.raises(UnreachableError, match="T077 could not be reached") as caught:
        snapshot_of(yahoo(attempts=2), config)
    assert "T076" not in str(caught.value)
    assert len({ticker for ticker, query in fake_yahoo.requests if "period1" in query}) == 200
