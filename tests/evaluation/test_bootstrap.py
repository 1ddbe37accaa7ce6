import numpy as np
import pytest
from arch.bootstrap import StationaryBootstrap, optimal_block_length

from candlecast.errors import EvaluationError
from candlecast.evaluation.bootstrap import Interval, block_length, day_counts, percentile_interval, widening


def test_the_interval_is_archs_own_for_a_mean():
    values = np.random.default_rng(0).normal(size=90)
    low, high = StationaryBootstrap(6, values, seed=4).conf_int(
        np.mean, reps=500, method="percentile", size=0.9
    )[:, 0]
    draws = day_counts(90, 6, 500, seed=4) @ values / 90
    interval = percentile_interval(draws, values.mean(), 0.9)
    assert interval.low == pytest.approx(low, abs=1e-12)
    assert interval.high == pytest.approx(high, abs=1e-12)


def test_every_resample_has_as_many_days_and_the_seed_decides_them():
    counts = day_counts(50, 4, 30, seed=1)
    assert counts.shape == (30, 50)
    assert (counts.sum(axis=1) == 50).all()
    assert np.array_equal(counts, day_counts(50, 4, 30, seed=1))
    assert not np.array_equal(counts, day_counts(50, 4, 30, seed=2))


def test_the_block_is_the_longest_that_a_series_asks_for():
    generator = np.random.default_rng(3)
    white = generator.normal(size=800)
    smooth = np.convolve(generator.normal(size=809), np.ones(10), mode="valid")
    wanted = optimal_block_length(smooth)["stationary"].iloc[0]
    assert block_length(np.stack([white, smooth], axis=1), 1) == int(np.ceil(wanted))
    assert block_length(white[:, None], 7) == 21


def test_a_constant_series_asks_for_nothing():
    assert block_length(np.full((100, 1), 0.3), 4) == 12


def test_a_short_span_keeps_eight_blocks():
    assert block_length(np.random.default_rng(0).normal(size=(80, 1)), 10) == 10


def test_too_few_days_make_no_interval():
    with pytest.raises(EvaluationError, match=r"30 test days hold fewer than 8 outcomes of 5 bars"):
        block_length(np.random.default_rng(0).normal(size=(30, 1)), 5)


def test_the_bounds_themselves_are_not_excluded():
    interval = Interval(0.0, 1.0)
    assert not interval.excludes(0.0)
    assert interval.excludes(-1e-9)


def test_the_interval_is_stretched_about_the_score():
    draws = np.linspace(0.0, 1.0, 101)
    interval = percentile_interval(draws, 0.4, 0.8, widen=2.0)
    assert (interval.low, interval.high) == pytest.approx((0.4 + 2 * (0.1 - 0.4), 0.4 + 2 * (0.9 - 0.4)))


def test_the_variance_of_resamples_is_put_back_by_what_the_mean_took():
    # The ideal resample's variance of a mean, from the weights of Politis & Romano's lemma 1, averaged over
    # white series, is short by the factor that the widening divides by.
    generator = np.random.default_rng(5)
    days, block = 120, 12
    lags = np.arange(days)
    weights = (1 - lags / days) * (1 - 1 / block) ** lags + lags / days * (1 - 1 / block) ** (days - lags)
    weights[0] = 1
    kept = []
    for _ in range(4000):
        apart = generator.normal(size=days)
        apart -= apart.mean()
        autocovariance = np.fft.irfft(np.abs(np.fft.rfft(apart)) ** 2, days) / days
        kept.append(weights @ autocovariance)
    expected = 2.2281389 / 1.9599640 / np.sqrt(np.mean(kept))  # t with 10 degrees of freedom
    assert widening(days, block, 1, 0.95) == pytest.approx(expected, rel=0.006)


@pytest.mark.parametrize(("horizon", "block"), [(5, 15), (20, 31), (2, 6)])
def test_what_joints_cut_is_put_back_where_calls_last(horizon, block):
    # A moving sum of `horizon` days has autocovariances horizon - lag; geometric weights lose a part.
    lags = np.arange(-horizon + 1, horizon)
    autocovariance = horizon - np.abs(lags)
    lost = 1 - (autocovariance @ (1 - np.abs(lags) / block)) / autocovariance.sum()
    assert lost == pytest.approx((horizon**2 - 1) / (3 * horizon * block), rel=1e-12)
    ratio = widening(400, block, horizon, 0.95) / widening(400, block, 1, 0.95)
    assert ratio == pytest.approx(1 / np.sqrt(1 - lost), rel=1e-12)


def test_fewer_blocks_stretch_more_and_many_hardly():
    factors = [widening(1000, block, 1, 0.95) for block in (1, 20, 100)]
    assert factors == sorted(factors)
    assert factors[0] == pytest.approx(1, abs=0.01)
    assert factors[2] == pytest.approx(2.2281389 / 1.9599640 / np.sqrt(1 - 0.18), rel=0.01)
