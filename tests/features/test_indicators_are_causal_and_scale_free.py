"""What every indicator promises: only the past, in no unit of price or volume, whatever came first."""

import numpy as np
import polars as pl
import pytest
from oracle.indicators_market import bars_frame, on_grid, random_bars, sample_bars
from polars.testing import assert_frame_equal

from candlecast.features.build import build_features, derive
from candlecast.features.catalogue import INDICATORS
from candlecast.features.config import FeaturesConfig
from candlecast.schema import FEATURE_KEYS

ALL = FeaturesConfig(families=("trend", "momentum", "volatility", "volume"), warmup_bars=0)
NAMES = [indicator.name for indicator in INDICATORS]
PRICES = pl.col("open", "high", "low", "close")
LENGTH = 260

each_name = pytest.mark.parametrize("name", NAMES)


def exact(bars: pl.DataFrame) -> pl.DataFrame:
    """Return every indicator of one history in Float64."""
    return derive(bars).select(indicator.expression.alias(indicator.name) for indicator in INDICATORS)


@pytest.fixture(scope="module")
def bars() -> pl.DataFrame:
    return random_bars(LENGTH, seed=11)


@pytest.fixture(scope="module")
def whole(bars: pl.DataFrame) -> pl.DataFrame:
    return exact(bars)


@pytest.fixture(scope="module")
def prefixes(bars: pl.DataFrame) -> dict[int, pl.DataFrame]:
    ends = sorted({*range(1, 130, 3), *(warmup + 1 for warmup in (14, 27, 33, 43, 59, 99)), 200, LENGTH - 1})
    return {end: exact(bars.head(end)) for end in ends}


@pytest.fixture(scope="module")
def damaged_futures(bars: pl.DataFrame) -> dict[int, pl.DataFrame]:
    is_later = pl.int_range(pl.len())
    return {
        end: exact(
            bars.with_columns(
                pl.when(is_later < end).then(PRICES).otherwise(PRICES * 1e6),
                pl.when(is_later < end).then("volume").otherwise(0.0).alias("volume"),
            )
        )
        for end in (1, 14, 15, 28, 34, 60, 61, 100, 150, 259)
    }


@each_name
def test_cutting_the_future_off_changes_no_value(name, whole, prefixes) -> None:
    for end, prefix in prefixes.items():
        assert prefix[name].equals(whole[name].head(end)), f"row {end - 1} or before"


@each_name
def test_a_corrupted_future_changes_no_value(name, whole, damaged_futures) -> None:
    for end, damaged in damaged_futures.items():
        assert damaged[name].head(end).equals(whole[name].head(end)), f"row {end - 1} or before"


@each_name
def test_the_current_bar_is_included(name, bars, whole) -> None:
    # A sharp move of the last bar shows in its own row, so no indicator comes a bar late.
    last = pl.int_range(pl.len()) == LENGTH - 1
    moved = bars.with_columns(
        pl.when(last).then(pl.col("close") * 0.8).otherwise("close").alias("close"),
        pl.when(last).then(pl.col("low") * 0.7).otherwise("low").alias("low"),
        pl.when(last).then(pl.col("open") * 1.1).otherwise("open").alias("open"),
        pl.when(last).then(pl.col("high") * 1.2).otherwise("high").alias("high"),
        pl.when(last).then(pl.col("volume") * 9 + 7).otherwise("volume").alias("volume"),
    )
    assert exact(moved)[name][-1] != whole[name][-1]


@pytest.mark.parametrize(("price", "volume"), [(2.0**-7, 2.0**7), (2.0**9, 1.0), (1.0, 2.0**-5)])
@each_name
def test_a_power_of_two_in_price_or_volume_changes_no_bit(name, price, volume, bars, whole) -> None:
    scaled = exact(bars.with_columns(PRICES * price, pl.col("volume") * volume))
    # The logarithm of a scaled price is another number, and a difference of two has its rounding.
    np.testing.assert_allclose(scaled[name].to_numpy(), whole[name].to_numpy(), rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize(
    ("price", "volume"), [(0.037, 1 / 0.037), (5432.1, 1 / 5432.1), (7.7, 1.0), (1.0, 0.3)]
)
@pytest.mark.parametrize("market", ["random", "IBM"])
def test_no_unit_of_price_or_volume_changes_a_value(price, volume, market, bars) -> None:
    history = bars if market == "random" else on_grid(sample_bars("IBM")).head(600)
    scaled = exact(history.with_columns(PRICES * price, pl.col("volume") * volume))
    unscaled = exact(history)
    for name in NAMES:
        np.testing.assert_allclose(
            scaled[name].to_numpy(), unscaled[name].to_numpy(), rtol=1e-9, atol=1e-11, err_msg=name
        )


def test_features_of_scaled_bars_are_the_features(bars) -> None:
    scaled = build_features(bars.with_columns(PRICES * 3.7, pl.col("volume") / 3.7), ALL)
    features = build_features(bars, ALL)
    keys = [key for key in FEATURE_KEYS if key != "close"]
    assert_frame_equal(
        scaled.select(*keys, *NAMES), features.select(*keys, *NAMES), rel_tol=1e-6, abs_tol=1e-9
    )


@each_name
def test_the_start_of_a_history_is_forgotten(name) -> None:
    # A level that is summed up from the first row, as of on-balance volume, would never agree.
    long = random_bars(900, seed=12)
    late = bars_frame(long.slice(130).select("open", "high", "low", "close", "volume").to_dict())
    from_start, from_later = exact(long)[name].tail(300), exact(late)[name].tail(300)
    np.testing.assert_allclose(from_later.to_numpy(), from_start.to_numpy(), rtol=1e-6, atol=1e-9)


@each_name
def test_no_two_indicators_are_the_same_number(name, whole) -> None:
    settled = whole.slice(120)
    for other in NAMES:
        if other != name:
            correlation = np.corrcoef(settled[name].to_numpy(), settled[other].to_numpy())[0, 1]
            assert abs(correlation) < 0.995, other
