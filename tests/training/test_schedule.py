import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from candlecast.training.schedule import learning_rate


@given(progress=st.floats(0, 1), fraction=st.floats(0, 1), warmup=st.floats(0, 1), peak=st.floats(1e-6, 1.0))
def test_the_rate_stays_between_nothing_and_the_peak(
    progress: float, fraction: float, warmup: float, peak: float
) -> None:
    rate = learning_rate(progress, peak, fraction, warmup)
    assert 0 <= rate <= peak * (1 + 1e-12)
    if progress > warmup:
        assert rate >= peak * fraction * (1 - 1e-12)


@pytest.mark.parametrize("warmup", [0.0, 0.1, 0.5])
def test_the_peak_is_where_warm_up_ends_and_the_end_is_the_final_fraction(warmup: float) -> None:
    assert learning_rate(warmup, 2.0, 0.01, warmup) == pytest.approx(2.0)
    assert learning_rate(1.0, 2.0, 0.01, warmup) == pytest.approx(0.02)
    middle = learning_rate((1 + warmup) / 2, 2.0, 0.0, warmup)
    assert middle == pytest.approx(1 + math.cos(math.pi / 2))


def test_runs_of_different_effective_batch_follow_one_curve_over_windows() -> None:
    few, many = (
        {n * (96 // total): learning_rate(n / total, 1.0, 0.0, 0.25) for n in range(1, total + 1)}
        for total in (12, 96)
    )
    assert few.items() <= many.items()


def test_warm_up_over_the_whole_budget_never_decays() -> None:
    assert learning_rate(0.5, 1.0, 0.1, 1.0) == 0.5
    assert learning_rate(1.0, 1.0, 0.1, 1.0) == 1.0
