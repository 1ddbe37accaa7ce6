import datetime
import itertools
from collections.abc import Callable
from typing import Any

import pytest
from data.fake_yahoo import BROKEN, Chart, FakeYahoo, walk, weekdays

from candlecast.data.config import DataConfig
from candlecast.data.snapshot import Snapshot, snapshot_of
from candlecast.data.yahoo import YahooSource
from candlecast.errors import DataError, UnreachableError

START, END = datetime.date(2020, 1, 6), datetime.date(2020, 3, 31)
DAYS = weekdays("2020-01-01", 100)


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


def test_the_currency_is_recorded(fake_yahoo: FakeYahoo, snapshot: Callable[..., Snapshot]) -> None:
    fake_yahoo.charts["LLOY.L"] = walk(DAYS)
    fake_yahoo.charts["LLOY.L"].currency = "GBp"
    assert snapshot().manifest.histories["LLOY.L"].currency == "GBp"


@pytest.mark.slow
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
