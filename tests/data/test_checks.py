import datetime
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from data.fake_yahoo import walk, weekdays
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle.data_checks import slow_split_days, slow_unit_jumps

from candlecast.data import checks
from candlecast.data.checks import ROW_CHECKS
from candlecast.data.config import ChecksConfig, DataConfig
from candlecast.data.sample import SampleSource
from candlecast.data.source import RAW_BARS
from candlecast.params import load_params

LIMITS: ChecksConfig = load_params("data", DataConfig, Path(__file__).parents[2] / "params.yaml").checks
SPAN = (datetime.date(2000, 3, 1), datetime.date(2013, 3, 1))
BARS = pl.DataFrame(walk(weekdays("2020-01-01", 40)).rows, schema=RAW_BARS, orient="row")
PRICES = ("open", "high", "low", "close", "adjusted_close")


def changed(values: dict[int, dict[str, Any]]) -> pl.DataFrame:
    rows = BARS.to_dicts()
    for row, columns in values.items():
        rows[row].update(columns)
    return pl.DataFrame(rows, schema=RAW_BARS)


def scaled(rows: range, factor: float) -> pl.DataFrame:
    inside = pl.int_range(pl.len()).is_in(list(rows))
    return BARS.with_columns(
        pl.when(inside).then(pl.col(name) * factor).otherwise(name).alias(name) for name in PRICES
    )


def found(name: str, bars: pl.DataFrame, limits: ChecksConfig = LIMITS) -> list[int]:
    marks = ROW_CHECKS[name](bars, limits)
    assert marks.dtype == pl.Boolean
    assert len(marks) == bars.height
    assert marks.null_count() == 0
    return marks.arg_true().to_list()


@pytest.mark.parametrize("name", ROW_CHECKS)
def test_an_ordinary_history_has_no_fault(name: str) -> None:
    assert found(name, BARS) == []


@pytest.mark.parametrize("name", ROW_CHECKS)
def test_no_check_stumbles_over_no_rows_or_one(name: str) -> None:
    assert found(name, BARS.clear()) == []
    assert found(name, BARS.head(1)) == []


def test_of_equal_rows_all_but_the_first_repeat_even_with_a_null() -> None:
    bars = changed({4: {"volume": None}})
    assert found("repeated_row", pl.concat([bars, bars[3:6]])) == [40, 41, 42]


def test_every_row_of_a_date_with_two_bars_conflicts() -> None:
    assert found("conflicting_rows", pl.concat([BARS[:6], BARS[5:7].with_columns(volume=pl.lit(1.0))])) == [
        5,
        6,
    ]


@pytest.mark.parametrize("value", [None, math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("column", PRICES)
def test_a_price_that_is_no_number_is_missing(column: str, value: float | None) -> None:
    assert found("missing_price", changed({7: {column: value}})) == [7]


@pytest.mark.parametrize("value", [0.0, -0.0, -36.98])
@pytest.mark.parametrize("column", PRICES)
def test_a_price_of_zero_or_below_has_no_logarithm(column: str, value: float) -> None:
    assert found("non_positive_price", changed({7: {column: value}})) == [7]


@pytest.mark.parametrize("value", [None, math.nan, math.inf, -1.0])
def test_a_volume_that_counts_nothing_is_missing_and_zero_is_none(value: float | None) -> None:
    assert found("missing_volume", changed({7: {"volume": value}, 8: {"volume": 0.0}})) == [7]


@pytest.mark.parametrize(
    "columns", [{"high": 10.0}, {"low": 1000.0}, {"open": 1000.0}, {"close": 1.0, "adjusted_close": 1.0}]
)
def test_prices_out_of_order_are_found(columns: dict[str, float]) -> None:
    assert found("price_order", changed({7: columns})) == [7]


@settings(deadline=None)
@given(st.floats(0, 0.00099))
def test_rounding_is_no_disorder_and_just_beyond_it_is(noise: float) -> None:
    close = BARS["close"][7]
    high = {"open": close, "low": close * (1 - noise), "high": close * (1 - noise)}
    assert found("price_order", changed({7: high})) == []
    beyond = {"open": close, "low": close * 0.99, "high": close * (1 - noise - 0.002)}
    assert found("price_order", changed({7: beyond})) == [7]


@pytest.mark.parametrize("factor", [100.0, 0.01, 110.0, 1 / 95])
@pytest.mark.parametrize("rows", [range(2), range(10, 11), range(10, 15), range(38, 40)])
def test_bars_at_another_unit_are_found_wherever_they_are(rows: range, factor: float) -> None:
    bars = scaled(rows, factor)
    assert found("unit_jump", bars) == list(rows)
    assert slow_unit_jumps(bars["close"].to_list(), LIMITS.unit_tolerance) == list(rows)


def test_a_unit_changed_for_good_marks_the_shorter_stretch() -> None:
    assert found("unit_jump", scaled(range(30, 40), 100)) == list(range(30, 40))
    assert found("unit_jump", scaled(range(10, 40), 100)) == list(range(10))


def test_a_crash_or_a_tenfold_rise_is_no_change_of_unit() -> None:
    for factor in (0.02, 0.5, 2, 10, 50):
        assert found("unit_jump", scaled(range(20, 40), factor)) == []


@pytest.mark.parametrize("factor", [2.0, 3.0, 0.5, 1 / 3, 10.0, 0.1, 1.5, 0.05])
def test_a_jump_at_a_splits_ratio_is_suspected(factor: float) -> None:
    bars = scaled(range(20, 40), factor)
    assert found("unadjusted_split", bars) == [20]
    assert slow_split_days(bars.to_dicts(), LIMITS.split_tolerance) == [20]


def test_apples_and_microsofts_real_splits_are_found_in_unadjusted_closes_and_the_crash_is_not() -> None:
    days = {"AAPL": ["2000-06-21", "2005-02-28"], "MSFT": ["2003-02-18"], "IBM": [], "GOOG": []}
    for ticker, expected in days.items():
        raw = SampleSource().fetch(ticker, *SPAN).bars
        unadjusted = raw.with_columns(adjusted_close="close")
        marks = checks.unadjusted_split(unadjusted, LIMITS)
        assert [str(day) for day in unadjusted.filter(marks)["date"]] == expected
        assert not checks.unadjusted_split(raw, LIMITS).any()  # 2000-09-29 among them


@settings(deadline=None)
@given(st.integers(1, 39), st.floats(-1.5, 1.5), st.floats(-0.3, 0.3))
def test_split_and_unit_checks_equal_their_slow_twins(row: int, jump: float, drift: float) -> None:
    bars = scaled(range(row, 40), math.exp(3 * jump)).with_columns(
        pl.when(pl.int_range(pl.len()) >= row)
        .then(pl.col("open") * math.exp(drift))
        .otherwise("open")
        .alias("open")
    )
    assert found("unadjusted_split", bars) == slow_split_days(bars.to_dicts(), LIMITS.split_tolerance)
    assert found("unit_jump", bars) == slow_unit_jumps(bars["close"].to_list(), LIMITS.unit_tolerance)


def test_idle_days_are_a_run_from_run_length_on() -> None:
    four = changed({row: {"volume": 0.0} for row in (3, 4, 5, 6)})
    five = changed({row: {"volume": 0.0} for row in (3, 4, 5, 6, 7, 20)})
    assert found("zero_volume", four) == []
    assert found("zero_volume", five) == [3, 4, 5, 6, 7]


def test_unchanged_prices_are_a_run_from_run_length_on_and_the_first_is_genuine() -> None:
    same = {name: BARS[name][3] for name in PRICES}
    assert found("flat_prices", changed(dict.fromkeys((4, 5, 6), same))) == []
    assert found("flat_prices", changed(dict.fromkeys((4, 5, 6, 7), same))) == [4, 5, 6, 7]
    assert found("flat_prices", changed(dict.fromkeys((4, 5), same)), replace(LIMITS, run_length=3)) == [4, 5]
