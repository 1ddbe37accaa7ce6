"""How much two ways of training differ, when each seed was trained both ways, and how sure that is.

A difference between two runs of one seed has shed what the seed alone moves: the initial weights and the
order of the windows. The differences of several seeds are what is looked at here, never the runs one by one.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Final

import numpy as np
import scipy

from candlecast.evaluation.bootstrap import Interval

RESAMPLES: Final = 9999
EXACT_PAIRS: Final = 14  # as many as 2^n patterns of signs are counted out


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedEffect:
    """The mean of paired differences; what a single pair cannot say is None."""

    pairs: int
    mean: float
    deviation: float | None  # standard deviation of the differences
    interval: Interval | None  # Student's t
    bootstrap: Interval | None  # bias-corrected and accelerated, over pairs
    p_value: float | None  # two-sided, Student's t
    sign_flip: float | None  # two-sided and exact: every pattern of signs as likely as the one seen
    standardised: float | None  # mean / deviation with Hedges' correction for few pairs


def paired_effect(
    differences: Sequence[float], confidence: float = 0.95, seed: int = 0, resamples: int = RESAMPLES
) -> PairedEffect:
    """Return the mean difference with two intervals, two tests and its size in standard deviations."""
    values = np.asarray(differences, dtype=np.float64)
    pairs, mean = len(values), float(values.mean())
    if pairs < 2:
        return PairedEffect(
            pairs=pairs, mean=mean, deviation=None, interval=None, bootstrap=None, p_value=None,
            sign_flip=None, standardised=None,
        )  # fmt: skip
    deviation = float(values.std(ddof=1))
    if deviation <= 1e-12 * max(abs(mean), 1e-300):  # the same in every pair
        point, certain = Interval(mean, mean), 1.0 if mean == 0 else 0.0
        return PairedEffect(
            pairs=pairs, mean=mean, deviation=0.0, interval=point, bootstrap=point, p_value=certain,
            sign_flip=sign_flip_p_value(values), standardised=0.0 if mean == 0 else None,
        )  # fmt: skip
    test = scipy.stats.ttest_1samp(values, 0.0)
    low, high = test.confidence_interval(confidence)
    resampled = scipy.stats.bootstrap(
        (values,),
        np.mean,
        confidence_level=confidence,
        n_resamples=resamples,
        method="BCa",
        rng=np.random.default_rng(seed),
    ).confidence_interval
    return PairedEffect(
        pairs=pairs,
        mean=mean,
        deviation=deviation,
        interval=Interval(float(low), float(high)),
        bootstrap=Interval(float(resampled.low), float(resampled.high)),
        p_value=float(test.pvalue),
        sign_flip=sign_flip_p_value(values),
        standardised=mean / deviation * hedges_correction(pairs) if pairs > 2 else None,
    )


def hedges_correction(pairs: int) -> float:
    """Return the factor by which mean / deviation of few pairs is too large on average (Hedges 1981)."""
    freedom = pairs - 1
    if freedom < 2:
        return math.nan
    logarithm = math.lgamma(freedom / 2) - math.lgamma((freedom - 1) / 2) - 0.5 * math.log(freedom / 2)
    return math.exp(logarithm)


def sign_flip_p_value(differences: Sequence[float] | np.ndarray) -> float:
    """Return the share of sign patterns whose mean is at least as far from zero; of many pairs, a sample."""
    values = np.asarray(differences, dtype=np.float64)
    if len(values) <= EXACT_PAIRS:
        signs = np.array(list(product((1.0, -1.0), repeat=len(values))))
    else:
        signs = np.random.default_rng(0).choice((1.0, -1.0), (2**EXACT_PAIRS, len(values)))
        signs[0] = 1.0
    means = abs(signs @ values)
    return float((means >= abs(values.sum()) * (1 - 1e-9)).mean())


def detectable(pairs: int, power: float = 0.8, level: float = 0.05) -> float:
    """Return the mean difference, in its standard deviations, that `pairs` would find `power` of the time."""
    from statsmodels.stats.power import TTestPower  # here, as it takes long to import

    return float(TTestPower().solve_power(nobs=pairs, alpha=level, power=power, alternative="two-sided"))


@dataclass(frozen=True, slots=True, kw_only=True)
class SpreadRatio:
    """How the spread of one way over seeds compares with that of another: its standard deviation's ratio."""

    ratio: float
    interval: Interval
    p_value: float


def spread_ratio(first: Sequence[float], second: Sequence[float], confidence: float = 0.95) -> SpreadRatio:
    """Return the ratio of two paired samples' standard deviations.

    By Pitman and Morgan (1939): the spreads are equal if and only if sums and differences of pairs are
    uncorrelated, which Student's t tests; the interval holds every ratio that the test does not reject.
    """
    one, other = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    pairs = len(one)
    if pairs < 3 or one.std() == 0 or other.std() == 0:
        nothing = Interval(0.0, math.inf)
        ratio = math.nan if other.std() == 0 else float(one.std() / other.std())
        return SpreadRatio(ratio=ratio, interval=nothing, p_value=1.0)
    correlation = float(np.corrcoef(one, other)[0, 1])
    ratio = float(one.std(ddof=1) / other.std(ddof=1))
    quantile = float(scipy.stats.t.isf((1 - confidence) / 2, pairs - 2))
    # Ratios r with |cov(a + r b, a - r b)| too small to reject: a quadratic in r^2 / ratio^2.
    wide = 1 + 2 * quantile**2 * (1 - correlation**2) / (pairs - 2)
    root = math.sqrt(wide**2 - 1)
    low, high = math.sqrt(wide - root), math.sqrt(wide + root)
    sums, gaps = one + other, one - other
    together = scipy.stats.pearsonr(sums, gaps)
    return SpreadRatio(
        ratio=ratio, interval=Interval(ratio * low, ratio * high), p_value=float(together.pvalue)
    )
