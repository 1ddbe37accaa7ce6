from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from training.small import CONFIG

from candlecast.training.budget import Budget, Counters


def spend(budget: Budget) -> Counters:
    """Walk the epochs one effective batch at a time, as the loop does."""
    counters = Counters()
    while not budget.spent(counters, seconds=0.0):
        in_epoch = budget.windows - counters.samples_seen % budget.windows
        left = budget.left(counters)
        windows = min(budget.effective_batch, in_epoch, in_epoch if left is None else left)
        counters.count(micro_steps=1, windows=windows, applied=True)
    return counters


@given(windows=st.integers(1, 50), batch=st.integers(1, 60), size=st.integers(1, 120))
def test_every_budget_knows_its_updates_and_windows_beforehand(windows: int, batch: int, size: int) -> None:
    for name in ("epochs", "updates", "samples"):
        budget = Budget.of(replace(CONFIG, **{"epochs": None, name: size}), windows, batch)
        counters = spend(budget)
        assert counters.update == budget.total_updates
        assert counters.samples_seen == budget.total_samples
        if name != "epochs":
            assert size == (counters.update if name == "updates" else counters.samples_seen)


def test_progress_reaches_one_with_the_last_update() -> None:
    budget = Budget.of(replace(CONFIG, epochs=2), windows=10, effective_batch=4)
    assert [budget.progress(update, 0.0) for update in range(6)] == [n / 6 for n in range(1, 7)]


def test_a_budget_in_seconds_ends_by_the_clock_alone() -> None:
    budget = Budget.of(replace(CONFIG, epochs=None, seconds=2.0), windows=10, effective_batch=4)
    counters = Counters(samples_seen=10**9, update=10**9)
    assert not budget.spent(counters, 1.9)
    assert budget.spent(counters, 2.0)
    assert (budget.progress(0, 1.0), budget.progress(0, 9.0)) == (0.5, 1.0)
    assert budget.left(counters) is None


def test_a_skipped_update_consumes_windows_and_counts_as_skipped() -> None:
    counters = Counters()
    counters.count(micro_steps=3, windows=12, applied=False)
    counters.count(micro_steps=1, windows=2, applied=True)
    assert counters == Counters(micro_step=4, update=1, skipped_updates=1, samples_seen=14)


@pytest.mark.parametrize(
    ("seen", "windows", "due"), [(40, 12, True), (39, 12, False), (48, 12, True), (51, 12, True)]
)
def test_an_interval_is_crossed_once(seen: int, windows: int, due: bool) -> None:
    assert Budget.crossed(40, Counters(samples_seen=seen), windows) == due
