import datetime
import math
from collections.abc import Callable
from typing import Any

import polars as pl
import pytest
from data.fake_yahoo import walk, weekdays
from hypothesis import given, settings
from hypothesis import strategies as st

from candlecast.data.config import ChecksConfig, DataConfig
from candlecast.data.quality import CHECKS, MEANING, Quality, policies
from candlecast.data.source import PRICES, RAW_BARS, Fetched
from candlecast.data.validate import Judge, LeftOutError, validate
from candlecast.errors import DataError

BARS = pl.DataFrame(walk(weekdays("2020-01-01", 40)).rows, schema=RAW_BARS, orient="row")
Build = Callable[..., DataConfig]


def judged(
    bars: pl.DataFrame, checks: ChecksConfig, sessions: pl.Series | None = None
) -> tuple[pl.DataFrame, Quality]:
    judge = Judge("AAA", checks)
    passed = validate(judge, Fetched(bars=bars), checks, sessions)
    return passed, Quality(policies=policies(checks), findings=tuple(judge.findings))


def with_value(row: int, **columns: Any) -> pl.DataFrame:
    rows = BARS.to_dicts()
    rows[row].update(columns)
    return pl.DataFrame(rows, schema=RAW_BARS)


def test_every_check_has_a_meaning_and_a_policy(data_config: Build) -> None:
    assert set(MEANING) == set(CHECKS) == set(policies(data_config().checks))


def test_a_clean_history_passes_unchanged_and_counts_zero_of_everything(data_config: Build) -> None:
    bars, quality = judged(BARS, data_config().checks)
    assert bars.equals(BARS)
    assert quality.counts() == dict.fromkeys(CHECKS, 0)
    assert quality.summary() == []


def test_each_policy_does_what_it_says(data_config: Build) -> None:
    bad = with_value(7, low=1000.0)
    assert judged(bad, data_config(checks__price_order="drop_row").checks)[0].height == 39
    kept, quality = judged(bad, data_config(checks__price_order="flag").checks)
    assert kept.height == 40
    assert quality.counts()["price_order"] == 1
    assert quality.findings[0].first == str(BARS["date"][7])
    with pytest.raises(LeftOutError, match="1 bars whose high is below"):
        judged(bad, data_config(checks__price_order="drop_ticker").checks)
    with pytest.raises(
        DataError, match=r"^AAA: 1 bars whose high .*2020-01-10; correct .* data\.checks\.price_order$"
    ):
        judged(bad, data_config(checks__price_order="error").checks)


def test_a_negative_price_is_refused_with_its_value_date_and_reason(data_config: Build) -> None:
    oil = with_value(7, date=datetime.date(2020, 4, 20), low=-40.32, close=-37.63, adjusted_close=-37.63)
    with pytest.raises(DataError, match=r"zero or below, which has no logarithm \(-40\.32\), 2020-04-20"):
        judged(oil, data_config().checks)


def test_newest_first_is_an_order_and_disorder_is_sorted_and_counted(data_config: Build) -> None:
    checks = data_config().checks
    newest_first, quality = judged(BARS.reverse(), checks)
    assert newest_first.equals(BARS)
    assert quality.findings == ()
    mixed, quality = judged(pl.concat([BARS[20:], BARS[:20]]), checks)
    assert mixed.equals(BARS)
    assert quality.counts()["unsorted_dates"] == 1


def test_a_bar_on_a_day_without_a_session_is_seen_only_with_a_calendar(data_config: Build) -> None:
    checks = data_config(checks__outside_calendar="drop_row").checks
    assert judged(BARS, checks)[0].height == 40
    bars, quality = judged(BARS, checks, BARS["date"].filter(BARS["date"] != BARS["date"][9]))
    assert bars.height == 39
    assert quality.counts()["outside_calendar"] == 1


def test_the_summary_names_check_policy_count_and_tickers(data_config: Build) -> None:
    _, quality = judged(with_value(7, low=None), data_config().checks)
    assert quality.summary() == [
        "missing_price (drop_row): 1 bars with a price that is null, NaN or infinite (AAA 1)"
    ]


prices = st.floats(allow_nan=True, allow_infinity=True) | st.none() | st.floats(0.5, 200)
rows = st.lists(
    st.tuples(st.dates(datetime.date(2020, 1, 1), datetime.date(2020, 2, 28)), *(prices for _ in range(6))),
    max_size=30,
)


@settings(max_examples=150, deadline=None)
@given(rows)
def test_whatever_comes_in_what_passes_is_sound(data_config: Build, values: list[tuple[Any, ...]]) -> None:
    dropping = {
        f"checks__{name}": "drop_row" for name in ("conflicting_rows", "non_positive_price", "unit_jump")
    }
    bars = pl.DataFrame(values, schema=RAW_BARS, orient="row")
    passed, quality = judged(bars, data_config(**dropping).checks)
    assert passed["date"].is_sorted()
    assert passed["date"].is_unique().all()
    for row in passed.to_dicts():
        assert all(math.isfinite(row[name]) and row[name] > 0 for name in PRICES)
        assert math.isfinite(row["volume"])
        assert row["volume"] >= 0
        assert row["low"] <= row["high"] * 1.003
    dropped = sum(finding.count for finding in quality.findings if finding.policy == "drop_row")
    assert passed.height + dropped == bars.height
    given_rows = set(bars.rows())
    assert all(row in given_rows for row in passed.rows())  # nothing is repaired


@settings(deadline=None)
@given(st.permutations(list(range(40))))
def test_the_order_of_rows_does_not_matter(data_config: Build, order: list[int]) -> None:
    assert judged(BARS[order], data_config().checks)[0].equals(BARS)
