from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from scipy.stats import binomtest

from candlecast.evaluation.bootstrap import day_counts, percentile_interval, widening
from candlecast.evaluation.calibration import (
    PLANTED_ACCURACY,
    Shape,
    _share,
    calibrate,
    power,
    shape_of,
    simulate,
)
from candlecast.evaluation.config import EvaluateConfig

CONFIG = EvaluateConfig(
    batch=8,
    reliability_bins=5,
    bootstrap_replications=400,
    confidence=0.9,
    costs_bp=(0.0,),
    calibration_simulations=150,
)
SHAPE = Shape(days=200, tickers=3, horizon=4, block=12, correlation=0.4, persistence=0.9)


def test_a_simulated_market_has_the_shape_asked_for():
    generator = np.random.default_rng(0)
    long = Shape(days=30_000, tickers=3, horizon=4, block=12, correlation=0.4, persistence=0.9)
    market = simulate(long, 0.5, generator)
    assert market.realised.shape == market.forecast.shape == (30_000, 3)
    assert market.realised.std() == pytest.approx(1, abs=0.03)
    assert np.corrcoef(market.realised[:, 0], market.realised[:, 1])[0, 1] == pytest.approx(0.4, abs=0.04)
    assert np.corrcoef(market.forecast[1:, 0], market.forecast[:-1, 0])[0, 1] == pytest.approx(0.9, abs=0.02)
    # Outcomes of 4 bars share 3 of them with the next day's, and none four days on.
    overlap = [np.corrcoef(market.realised[lag:, 0], market.realised[:-lag, 0])[0, 1] for lag in (1, 4)]
    assert overlap == pytest.approx([0.75, 0.0], abs=0.04)


@pytest.mark.parametrize("accuracy", [0.5, 0.55, 0.7])
def test_the_planted_accuracy_is_the_one_asked_for(accuracy):
    long = Shape(days=40_000, tickers=2, horizon=3, block=9, correlation=0.2, persistence=0.5)
    market = simulate(long, accuracy, np.random.default_rng(1))
    assert ((market.realised > 0) == (market.forecast > 0)).mean() == pytest.approx(accuracy, abs=0.01)
    assert ((market.realised > 0) == (market.rival > 0)).mean() == pytest.approx(0.5, abs=0.01)


def test_the_shape_of_forecasts_is_measured(make_forecasts):
    market = simulate(Shape(3000, 2, 1, 5, 0.3, 0.8), 0.5, np.random.default_rng(2))
    frame = make_forecasts(days=3000, tickers=2).with_columns(
        realised_return=pl.Series(market.realised.ravel()),
        probability_up=pl.Series(0.5 + market.forecast.ravel() / 20),
    )
    shape = shape_of(frame, 1, 5)
    assert (shape.days, shape.tickers, shape.horizon, shape.block) == (3000, 2, 1, 5)
    assert shape.correlation == pytest.approx(0.3, abs=0.06)
    assert shape.persistence == pytest.approx(0.8, abs=0.03)


def test_a_constant_forecast_of_one_ticker_has_a_shape(make_forecasts):
    shape = shape_of(make_forecasts(tickers=1).with_columns(probability_up=pl.lit(0.6)), 1, 5)
    assert (shape.correlation, shape.persistence) == (0, 0)


def test_without_skill_each_test_rejects_about_as_often_as_it_says_and_with_skill_more():
    results = calibrate(SHAPE, CONFIG, seed=3)
    assert len(results) == 5
    for result in results:
        # 5 % is within the Monte-Carlo interval of 150 markets, give or take 3 points of the test's own.
        assert result.size_interval.low <= 0.08, result
        assert result.size <= 0.12, result
        assert result.power > result.size, result
    assert PLANTED_ACCURACY > 0.5


@pytest.mark.parametrize("count", [0, 9, 150])
def test_the_monte_carlo_interval_is_clopper_and_pearsons(count):
    share, interval = _share(count, 150)
    exact = binomtest(count, 150).proportion_ci(method="exact")
    assert share == count / 150
    assert (interval.low, interval.high) == pytest.approx((exact.low, exact.high), abs=1e-8)


def test_one_ticker_has_no_order_to_test():
    results = calibrate(Shape(100, 1, 1, 5, 0.0, 0.5), replace(CONFIG, calibration_simulations=3), seed=1)
    assert not [result for result in results if "order" in result.test]
    assert len(results) == 4


def test_the_accuracy_that_could_be_found_is_the_textbooks_where_windows_are_independent():
    # sd of a share of n fair coins is 1 / (2 sqrt(n)); 5 % one-sided and 80 % power are 2.486 of them.
    found = power(Shape(900, 1, 1, 5, 0.0, 0.0), seed=1)
    assert found.standard_error == pytest.approx(0.5 / 30, rel=0.1)
    assert found.detectable_accuracy - 0.5 == pytest.approx(2.4865 * found.standard_error, rel=1e-4)


def test_overlap_correlation_and_persistence_leave_less_to_see():
    plain = power(Shape(300, 4, 1, 5, 0.0, 0.0), seed=1).standard_error
    assert power(Shape(300, 4, 1, 5, 0.6, 0.0), seed=1).standard_error > 1.1 * plain
    assert power(Shape(300, 4, 5, 15, 0.0, 0.9), seed=1).standard_error > 1.5 * plain


@pytest.mark.parametrize(
    "shape",
    [
        Shape(days=499, tickers=4, horizon=5, block=15, correlation=0.47, persistence=0.67),
        Shape(days=250, tickers=2, horizon=20, block=31, correlation=0.5, persistence=0.95),
    ],
)
def test_an_interval_at_95_percent_misses_the_truth_in_about_5_of_100_markets(shape):
    generator = np.random.default_rng(23)
    counts = day_counts(shape.days, shape.block, 600, seed=4)
    widen = widening(shape.days, shape.block, shape.horizon, 0.95)
    missed = 0
    for _ in range(1200):
        market = simulate(shape, 0.5, generator)
        hits = ((market.realised > 0) == (market.forecast > 0)).mean(axis=1)
        missed += percentile_interval(counts @ hits / shape.days, hits.mean(), 0.95, widen).excludes(0.5)
    # 60 of 1,200; a binomial count lies in 43 to 79 in 99 of 100 times.
    assert 43 <= missed <= 79
