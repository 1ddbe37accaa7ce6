import math

import numpy as np
import polars as pl
import pytest
from scipy import stats

from candlecast.studies.article import memory_claim, ratio
from candlecast.studies.measures import averaged_like, unsteadiness
from candlecast.studies.roles import Roles
from candlecast.training.memory import MemorySplit

ROLES = Roles("small", "accumulated", "large")


def split(activations: float, inputs: float) -> MemorySplit:
    return MemorySplit(
        parameters=10.0, gradients=10.0, optimizer=20.0, activations=activations, inputs=inputs, copies=10.0
    )


@pytest.mark.parametrize(
    ("accumulated", "word"),
    [(split(100, 1.1), "holds"), (split(100, 40), "holds nearly"), (split(100, 400), "refuted")],
)
def test_memory_is_judged_by_how_much_of_the_large_batchs_extra_accumulation_costs(
    accumulated: MemorySplit, word: str
) -> None:
    peaks = {"small": split(100, 1), "accumulated": accumulated, "large": split(800, 8)}
    assert memory_claim(ROLES, peaks).word == word


def test_memory_without_a_large_arm_is_not_measured() -> None:
    assert memory_claim(Roles("small", "accumulated", None), {}).word == "not measured"


def test_a_ratio_over_seeds_is_students_on_logarithms() -> None:
    ours, theirs = {(0, 0): 2.0, (1, 0): 3.0, (2, 0): 1.5}, {(0, 0): 4.0, (1, 0): 9.0, (2, 0): 2.0}
    logarithms = [math.log(ours[pair] / theirs[pair]) for pair in ours]
    found = ratio(ours, theirs, 0.95)
    low, high = stats.ttest_1samp(logarithms, 0).confidence_interval(0.95)
    assert found is not None
    assert found.interval is not None
    assert (found.value, found.interval.low, found.interval.high) == pytest.approx(
        (math.exp(np.mean(logarithms)), math.exp(low), math.exp(high))
    )


def test_a_loss_is_averaged_over_the_windows_of_the_other_arms_updates() -> None:
    # An epoch of 10 windows: 4 + 4 + 2 for the one, 8 + 2 for the other.
    fine = pl.DataFrame({"samples_seen": [4.0, 8.0, 10.0, 14.0], "loss": [1.0, 3.0, 5.0, 7.0]})
    coarse = pl.DataFrame({"samples_seen": [8.0, 10.0, 18.0]})
    assert averaged_like(fine, coarse).rows() == [(8.0, 2.0), (10.0, 5.0), (18.0, 7.0)]


def test_averaging_shrinks_scatter_by_the_root_of_the_windows() -> None:
    seen = np.arange(16, 16 * 8000 + 1, 16, dtype=float)
    fine = pl.DataFrame({"samples_seen": seen, "loss": np.random.default_rng(1).normal(1, 0.1, 8000)})
    coarse = pl.DataFrame({"samples_seen": seen[7::8]})
    shrunk = unsteadiness(averaged_like(fine, coarse), "loss") / unsteadiness(fine, "loss")
    assert shrunk == pytest.approx(1 / math.sqrt(8), rel=0.05)


def test_scatter_is_measured_about_the_trend_and_at_the_end() -> None:
    seen = np.arange(1.0, 2001)
    noise = np.random.default_rng(2).normal(0, np.where(seen < 1000, 5.0, 0.3))
    course = pl.DataFrame({"samples_seen": seen, "loss": 50 - 0.01 * seen + noise})
    assert unsteadiness(course, "loss") == pytest.approx(0.3, rel=0.05)
