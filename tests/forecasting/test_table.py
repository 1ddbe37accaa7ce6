import datetime
import math
from collections.abc import Callable
from typing import Any

import pandas as pd
import polars as pl
import pytest
from forecasting.made import Made
from forecasting.made_bars import as_table, made_bars

from candlecast.data.config import ChecksConfig
from candlecast.errors import DataError
from candlecast.forecasting.table import bars_of_table, example_table
from candlecast.schema import BARS

Table = dict[str, list[Any]]


def bars(num_bars: int = 30) -> pl.DataFrame:
    return made_bars(["BBB", "AAA"], num_bars)


def test_a_sound_table_becomes_bars_sorted_by_ticker(checks: ChecksConfig) -> None:
    made = bars_of_table(as_table(bars()), checks, 5)
    assert made.schema == BARS
    expected = bars().sort("ticker", "date")
    assert made.drop("segment").equals(expected.drop("segment"))
    assert made["segment"].unique().to_list() == [0]


@pytest.mark.parametrize(
    "write",
    [
        str,
        lambda day: f"{day}T00:00:00.000",
        lambda day: datetime.datetime(day.year, day.month, day.day, tzinfo=datetime.UTC),
        lambda day: datetime.datetime(day.year, day.month, day.day),  # noqa: DTZ001 - as pandas has them
    ],
)
def test_dates_may_be_text_or_points_in_time(checks: ChecksConfig, write: Callable[..., Any]) -> None:
    table = as_table(bars())
    table["date"] = [write(day) for day in table["date"]]
    assert bars_of_table(table, checks, 5)["date"].equals(bars().sort("ticker", "date")["date"])


def test_prices_and_volume_are_put_on_the_scale_of_the_adjusted_close(checks: ChecksConfig) -> None:
    table = as_table(bars().filter(pl.col("ticker") == "AAA"))
    table["adjusted_close"] = [close / 2 for close in table["close"]]
    made = bars_of_table(table, checks, 5)
    assert made["open"].to_list() == [value / 2 for value in table["open"]]
    assert made["close"].to_list() == table["adjusted_close"]
    assert made["volume"].to_list() == [value * 2 for value in table["volume"]]


def test_missing_sessions_cut_a_history_where_another_ticker_has_them(checks: ChecksConfig) -> None:
    frame = bars(30)
    dates = frame["date"].unique().sort()
    gapped = frame.filter((pl.col("ticker") == "AAA") | ~pl.col("date").is_in(dates[10:16].implode()))
    made = bars_of_table(as_table(gapped), checks, 5)
    segments = dict(made.group_by("ticker").agg(pl.col("segment").max()).iter_rows())
    assert segments == {"AAA": 0, "BBB": 1}
    assert bars_of_table(as_table(gapped), checks, 6)["segment"].max() == 0


def changed(**changes: Callable[[list[Any]], None]) -> Table:
    table = as_table(bars())
    for name, change in changes.items():
        change(table[name])
    return table


def put(row: int, value: Any) -> Callable[[list[Any]], None]:
    def change(column: list[Any]) -> None:
        column[row] = value

    return change


def swap(column: list[Any]) -> None:
    column[4], column[5] = column[5], column[4]


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (changed(close=put(3, math.nan)), r"BBB 2020-01-09: the bar has a price or a volume that is missing"),
        (changed(open=put(3, None)), r"BBB 2020-01-09: the bar has a price or a volume that is missing"),
        (changed(volume=put(3, math.inf)), r"BBB 2020-01-09: .* infinite"),
        (changed(low=put(3, 0.0)), r"BBB 2020-01-09: the bar has a price of zero or below"),
        (changed(volume=put(3, -1.0)), r"BBB 2020-01-09: the bar has a negative volume"),
        (changed(high=put(3, 1.0)), r"BBB 2020-01-09: the bar has a high below"),
        (
            changed(date=put(1, datetime.date(2020, 1, 6))),
            r"BBB 2020-01-06: the bar is there twice; keep one",
        ),
        (changed(date=swap), r"BBB 2020-01-10: the bar comes after a later one; sort"),
        (changed(date=put(2, "yesterday")), r"row 2: 'yesterday' is no date"),
        (changed(date=put(2, "2020-02-30")), r"row 2: '2020-02-30' is no date"),
        (changed(date=put(2, 20200108)), r"row 2: 20200108 is no date; write it as 2013-03-01"),
        (changed(date=put(2, None)), r"row 2: None is no date"),
        (changed(date=put(2, pd.NaT)), r"row 2: NaT is no date"),
        (changed(ticker=put(2, None)), r"row 2: None is no ticker"),
        (changed(ticker=put(2, " ")), r"row 2: ' ' is no ticker"),
        (changed(ticker=put(2, 7)), r"row 2: 7 is no ticker"),
        (changed(close=put(2, "12.5")), r"row 2: close '12.5' is no number"),
        (changed(close=put(2, True)), r"row 2: close True is no number"),
        (changed(close=put(2, [1.0])), r"row 2: close \[1.0\] is no number"),
        (changed(close=put(2, 10**400)), r"row 2: close is too large a number"),
        ({name: [] for name in as_table(bars())}, r"the table has no rows"),
    ],
)
def test_each_fault_is_an_error_that_names_the_bar(table: Table, message: str, checks: ChecksConfig) -> None:
    with pytest.raises(DataError, match=message):
        bars_of_table(table, checks, 5)


def test_missing_and_unknown_columns_are_named_together(checks: ChecksConfig) -> None:
    table = as_table(bars())
    table["Close"] = table.pop("close")
    table["adj_close"] = table["open"]
    with pytest.raises(DataError, match=r"lacks close and has Close, adj_close, which no column is called"):
        bars_of_table(table, checks, 5)


def test_a_split_that_nothing_adjusts_for_is_refused_unless_the_close_is_said_to_be_adjusted(
    checks: ChecksConfig,
) -> None:
    halved = pl.when((pl.col("ticker") == "AAA") & (pl.col("date") >= datetime.date(2020, 1, 20)))
    prices = ("open", "high", "low", "close")
    frame = bars().with_columns(halved.then(pl.col(name) / 2).otherwise(pl.col(name)) for name in prices)
    table = as_table(frame)
    with pytest.raises(DataError, match=r"AAA 2020-01-20: the bar opens at a split's ratio"):
        bars_of_table(table, checks, 5)
    assert bars_of_table({**table, "adjusted_close": table["close"]}, checks, 5).height == frame.height


def test_two_tickers_that_follow_each_other_are_no_split(checks: ChecksConfig) -> None:
    prices = ("open", "high", "low", "close")
    cheap = pl.when(pl.col("ticker") == "AAA")
    last = bars().filter(pl.col("ticker") == "BBB")["close"][-1]
    first = bars().filter(pl.col("ticker") == "AAA")["open"][0]
    frame = bars().with_columns(
        cheap.then(pl.col(name) / first * last / 2).otherwise(pl.col(name)) for name in prices
    )
    assert bars_of_table(as_table(frame), checks, 5).height == frame.height


def test_the_example_is_as_short_as_a_forecast_allows(made: Made) -> None:
    card, needed = made.forecaster.card, made.forecaster.bars_needed
    table = example_table(made.bars, needed)
    assert set(table["ticker"]) == {"AAA"}
    assert len(table["date"]) == needed
    assert made.forecaster.latest(bars_of_table(table, card.checks, card.max_gap)).height == 1
