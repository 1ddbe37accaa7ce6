import math

import numpy as np
import pytest
from purgedcv import deflated_sharpe_ratio, probabilistic_sharpe_ratio

from candlecast.evaluation import sharpe


@pytest.mark.parametrize("benchmark", [0.0, 0.05, -0.1])
def test_the_probable_ratio_is_purgedcvs(benchmark):
    returns = np.random.default_rng(0).standard_t(5, 300) * 0.01 + 0.001
    expected = probabilistic_sharpe_ratio(returns, benchmark)
    assert sharpe.probable(returns, benchmark) == pytest.approx(expected, abs=1e-10)


@pytest.mark.parametrize("trials", [1, 2, 30, 1000])
def test_the_deflated_ratio_is_purgedcvs(trials):
    returns = np.random.default_rng(1).standard_t(4, 500) * 0.01 + 0.001
    expected = deflated_sharpe_ratio(returns, trials, 0.04**2)
    assert sharpe.deflated(returns, trials, 0.04) == pytest.approx(expected, abs=1e-10)


def test_the_published_example():
    # Bailey & Lopez de Prado (2014): an annual ratio of 2.5 over 1,250 days, skewness -3, kurtosis 10, the
    # best of 100 trials whose annual ratios have variance 1/2: benchmark 0.1132 a day, probability 0.9004.
    benchmark = sharpe.expected_best(100, math.sqrt(0.5 / 250))
    assert benchmark == pytest.approx(0.1132, abs=5e-5)
    probability = sharpe.probability_above(2.5 / math.sqrt(250), benchmark, 1250, -3, 10)
    assert probability == pytest.approx(0.9004, abs=5e-5)


def test_more_trials_deflate_more():
    returns = np.random.default_rng(2).normal(0.001, 0.01, 400)
    values = [sharpe.deflated(returns, trials) for trials in (1, 5, 50)]
    assert values == sorted(values, reverse=True)
    assert values[0] == sharpe.probable(returns)


def test_returns_that_never_vary_have_no_ratio():
    assert sharpe.daily_sharpe(np.zeros(9)) == 0
    assert sharpe.deflated(np.zeros(9), 10) == 0.5
