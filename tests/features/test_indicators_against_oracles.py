"""Every indicator against an independent computation: TA-Lib, or a twin that reads as the formula."""

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray
from oracle.indicators_market import on_grid, random_bars, sample_bars
from oracle.indicators_talib import TALIB, Bars
from oracle.indicators_twin import TWINS, twin

from candlecast.features.build import derive
from candlecast.features.catalogue import INDICATORS

# Values cross zero, where no relative error holds; all are of the order 0.01 to 1.
TOLERANCE = {"rtol": 1e-9, "atol": 1e-12}

MARKETS = {
    "AAPL": sample_bars("AAPL"),
    "IBM": sample_bars("IBM"),
    **{f"random {seed}": random_bars(700, seed) for seed in range(5)},
}
# Reported from a later row than they are defined at: TA-Lib waits for the signal line.
LATER_IN_TALIB = {"macd_12_26": 33, "stochastic_14_3": 17}
# These ask which of two moves is larger, or whether a price moved at all.
TIES_DECIDE = {"adx_14", "directional_balance_14", "on_balance_volume_20"}


def values_of(name: str, bars: pl.DataFrame) -> NDArray[np.float64]:
    """Return the indicator in Float64, with its own warm-up only."""
    (indicator,) = (indicator for indicator in INDICATORS if indicator.name == name)
    return derive(bars).select(indicator.expression).to_series().to_numpy()


@pytest.mark.parametrize("market", MARKETS)
@pytest.mark.parametrize("name", TALIB)
def test_an_indicator_of_talib_equals_talib(name: str, market: str) -> None:
    bars = on_grid(MARKETS[market]) if name in TIES_DECIDE else MARKETS[market]
    expected, actual = TALIB[name](Bars(bars)), values_of(name, bars)
    known = np.isfinite(expected)
    assert known.sum() > 500
    np.testing.assert_allclose(actual[known], expected[known], **TOLERANCE)


@pytest.mark.parametrize("name", TALIB)
def test_an_indicator_of_talib_starts_where_talib_does(name: str) -> None:
    (warmup,) = (indicator.warmup for indicator in INDICATORS if indicator.name == name)
    expected = TALIB[name](Bars(MARKETS["IBM"]))
    assert np.isfinite(expected).argmax() == LATER_IN_TALIB.get(name, warmup)


@pytest.mark.parametrize("market", ["IBM", "random 0", "random 1"])
@pytest.mark.parametrize("name", TWINS)
def test_an_indicator_that_talib_has_not_equals_its_twin(name: str, market: str) -> None:
    bars = MARKETS[market].head(500)
    np.testing.assert_allclose(values_of(name, bars), twin(name, bars), **TOLERANCE)


def test_every_indicator_has_exactly_one_oracle() -> None:
    assert sorted([*TALIB, *TWINS]) == sorted(indicator.name for indicator in INDICATORS)
