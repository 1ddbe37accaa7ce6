import math

import numpy as np
import pytest
from arch.bootstrap import IIDBootstrap
from scipy import stats
from statsmodels.stats.weightstats import DescrStatsW

from candlecast.evaluation.paired import (
    detectable,
    hedges_correction,
    paired_effect,
    sign_flip_p_value,
    spread_ratio,
)

FIVE = [0.011, -0.004, 0.019, 0.007, 0.013]


def test_the_interval_and_its_test_are_students() -> None:
    effect = paired_effect(FIVE, confidence=0.9)
    oracle = DescrStatsW(FIVE)
    assert effect.interval is not None
    assert (effect.interval.low, effect.interval.high) == pytest.approx(oracle.tconfint_mean(alpha=0.1))
    assert effect.p_value == pytest.approx(oracle.ttest_mean(0.0)[1])
    assert (effect.pairs, effect.mean, effect.deviation) == pytest.approx(
        (5, oracle.mean, np.std(FIVE, ddof=1))
    )


def test_the_interval_excludes_zero_exactly_where_the_test_rejects() -> None:
    generator = np.random.default_rng(3)
    for _ in range(30):
        effect = paired_effect(generator.normal(0.5, 1, 6).tolist(), resamples=99)
        assert effect.interval is not None
        assert effect.p_value is not None
        assert effect.interval.excludes(0.0) == (effect.p_value < 0.05)


def test_the_bootstrap_interval_is_that_of_another_implementation() -> None:
    values = np.random.default_rng(1).gamma(2.0, 1.0, 30)
    effect = paired_effect(values.tolist())
    theirs = IIDBootstrap(values, seed=2).conf_int(np.mean, 20_000, method="bca")
    assert effect.bootstrap is not None
    assert (effect.bootstrap.low, effect.bootstrap.high) == pytest.approx(theirs.ravel().tolist(), abs=0.03)


def test_the_bootstrap_is_the_same_each_time() -> None:
    assert paired_effect(FIVE) == paired_effect(FIVE)


def test_hedges_correction_is_as_tabulated() -> None:
    # Hedges & Olkin 1985, table 2: J(m) for m = 4, 9 and 19 degrees of freedom.
    assert [hedges_correction(pairs) for pairs in (5, 10, 20)] == pytest.approx(
        [0.798, 0.914, 0.960], abs=5e-4
    )


def test_the_standardised_effect_is_unbiased() -> None:
    draws = np.random.default_rng(4).normal(1.0, 2.0, (4000, 5))
    sizes = draws.mean(axis=1) / draws.std(axis=1, ddof=1) * hedges_correction(5)
    assert np.mean(sizes) == pytest.approx(0.5, abs=0.03)


def test_flipping_signs_counts_what_scipy_counts() -> None:
    theirs = stats.permutation_test(
        (np.array(FIVE),), np.mean, permutation_type="samples", n_resamples=np.inf, alternative="two-sided"
    )
    assert sign_flip_p_value(FIVE) == pytest.approx(theirs.pvalue)


def test_five_pairs_that_all_agree_cannot_be_rarer_than_one_in_sixteen() -> None:
    assert sign_flip_p_value([0.1, 0.2, 0.3, 0.4, 0.5]) == 2 / 2**5


def test_many_pairs_are_sampled_and_agree_with_students_t() -> None:
    values = np.random.default_rng(5).normal(0.25, 1, 60)
    assert sign_flip_p_value(values) == pytest.approx(stats.ttest_1samp(values, 0).pvalue, abs=0.02)


def test_what_is_detectable_is_found_four_times_in_five() -> None:
    generator = np.random.default_rng(6)
    draws = generator.normal(detectable(5), 1, (4000, 5))
    rejected = stats.ttest_1samp(draws, 0.0, axis=1).pvalue < 0.05
    assert rejected.mean() == pytest.approx(0.8, abs=0.025)


def test_equal_differences_leave_no_doubt() -> None:
    effect = paired_effect([0.25, 0.25, 0.25])
    assert effect.interval is not None
    assert (effect.interval.low, effect.interval.high, effect.p_value) == (0.25, 0.25, 0.0)
    nothing = paired_effect([0.0, 0.0, 0.0])
    assert (nothing.p_value, nothing.standardised) == (1.0, 0.0)


def test_one_pair_has_no_interval() -> None:
    effect = paired_effect([0.5])
    assert (effect.mean, effect.interval, effect.bootstrap, effect.p_value) == (0.5, None, None, None)


def test_the_ratio_of_spreads_is_tested_as_morgan_did() -> None:
    generator = np.random.default_rng(7)
    shared = generator.normal(0, 1, 12)
    one, other = shared + generator.normal(0, 2, 12), shared + generator.normal(0, 0.5, 12)
    found = spread_ratio(one.tolist(), other.tolist())
    assert found.ratio == pytest.approx(np.std(one, ddof=1) / np.std(other, ddof=1))
    assert found.p_value == pytest.approx(stats.pearsonr(one + other, one - other).pvalue)


def test_the_ends_of_the_ratios_interval_are_the_ratios_just_not_rejected() -> None:
    generator = np.random.default_rng(8)
    one, other = generator.normal(0, 2, 9), generator.normal(0, 1, 9)
    found = spread_ratio(one.tolist(), other.tolist(), confidence=0.9)
    for end in (found.interval.low, found.interval.high):
        assert stats.pearsonr(one + end * other, one - end * other).pvalue == pytest.approx(0.1)


def test_the_ratios_interval_holds_the_truth_as_often_as_it_says() -> None:
    generator = np.random.default_rng(9)
    held = 0
    for _ in range(600):
        shared = generator.normal(0, 1, 5)
        one, other = 3 * (shared + generator.normal(0, 1, 5)), shared + generator.normal(0, 1, 5)
        interval = spread_ratio(one.tolist(), other.tolist()).interval
        held += not interval.excludes(3.0)
    assert held / 600 == pytest.approx(0.95, abs=0.03)


def test_a_spread_of_nothing_has_no_interval() -> None:
    found = spread_ratio([1.0, 1.0, 1.0], [1.0, 2.0, 3.0])
    assert (found.ratio, found.interval.low, found.interval.high) == (0.0, 0.0, math.inf)
