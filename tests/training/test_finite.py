from dataclasses import replace
from pathlib import Path

import pytest
import torch
from training.small import CONFIG, Recorder, recipe, small, small_store

from candlecast.errors import TrainingError
from candlecast.training import finite
from candlecast.training.checkpoint import Checkpoints
from candlecast.training.config import TrainConfig
from candlecast.training.distributed import Processes
from candlecast.training.finite import FiniteGuard
from candlecast.training.loop import train
from candlecast.training.records import TrainingSummary
from candlecast.training.state import new_state
from candlecast.windows.dataset import WindowDataset
from candlecast.windows.sampler import epoch_order
from candlecast.windows.store import WindowStore

BAD_POSITION = 30  # in the first epoch's order: update 3 (24..35), its second micro-batch (28..31)


@pytest.fixture
def poisoned() -> WindowStore:
    """A store in which one training window has an infinite target, as a bad bar would make it."""
    store = small_store()
    index = epoch_order(len(store.split.train), seed=7, epoch=0)[BAD_POSITION]
    store.panel.target[store.split.train[index]] = float("inf")
    return store


def run(
    store: WindowStore, config: TrainConfig = CONFIG, checkpoints: Checkpoints | None = None
) -> tuple[torch.nn.Module, Recorder]:
    model, heard = small(dropout=0.2), Recorder()
    sets = WindowDataset(store, "train"), WindowDataset(store, "validation")
    with pytest.raises(TrainingError) as caught:
        train(model, *sets, recipe(config), [heard], checkpoints)
    heard.told.append(str(caught.value))
    return model, heard


@pytest.mark.parametrize("deferred", [False, True])
@pytest.mark.parametrize("precision", ["fp32", "bf16"])
def test_the_error_names_update_micro_step_and_window_and_no_weight_is_touched(
    poisoned: WindowStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, precision: str, deferred: bool
) -> None:
    if deferred:  # as on a GPU: the host learns of it when the log is flushed, two updates later
        monkeypatch.setattr(finite, "can_defer", lambda state: True)
    config = replace(CONFIG, precision=precision, log_every=5, checkpoint_seconds=1e9)
    checkpoints = Checkpoints(tmp_path, "key")
    model, heard = run(poisoned, config, checkpoints)

    index = epoch_order(len(poisoned.split.train), seed=7, epoch=0)[BAD_POSITION]
    row = poisoned.split.train[index]
    name = f"{poisoned.panel.tickers[poisoned.panel.ticker[row]]} {poisoned.panel.date[row]}"
    error = heard.told[-1]
    assert isinstance(error, str)
    assert error.startswith(f"update 3, micro-step 8: the loss is not finite; windows {name}; ")
    assert str(checkpoints.path) in error
    assert len(error.splitlines()) == 1

    clean, two = small(dropout=0.2), replace(config, epochs=None, updates=2, warmup_fraction=0.0)
    sets = [WindowDataset(poisoned, part) for part in ("train", "validation")]
    # The same rates as the first two updates of the failed run, given by hand.
    rates = iter([record.lr for record in heard.updates])
    monkeypatch.setattr("candlecast.training.loop.learning_rate", lambda *_: next(rates))
    train(clean, *sets, recipe(two))
    assert all(map(torch.equal, model.parameters(), clean.parameters()))


def test_what_is_saved_is_the_state_before_the_bad_update(poisoned: WindowStore, tmp_path: Path) -> None:
    checkpoints = Checkpoints(tmp_path, "key")
    config = replace(CONFIG, checkpoint_seconds=1e9)
    _, first = run(poisoned, config, checkpoints)
    _, second = run(poisoned, config, checkpoints)  # continues there, and fails there again
    assert second.told[0].resumed_update == 2
    assert second.told[0].resumed_samples == 24
    assert second.told[-1] == first.told[-1]


def test_observers_hear_the_good_updates_and_that_it_failed(poisoned: WindowStore) -> None:
    _, heard = run(poisoned, replace(CONFIG, log_every=1))
    assert [record.update for record in heard.updates] == [1, 2]
    end = heard.told[-2]
    assert isinstance(end, TrainingSummary)
    assert (end.outcome, end.update) == ("failed", 2)


def test_a_gradient_alone_may_be_at_fault(store: WindowStore) -> None:
    model = small()
    model.mean_head.weight.register_hook(lambda gradient: gradient * float("inf"))
    sets = WindowDataset(store, "train"), WindowDataset(store, "validation")
    with pytest.raises(
        TrainingError, match="update 1, micro-step 1: the gradient is not finite; windows BBB"
    ):
        train(model, *sets, recipe())


def test_float16_that_overflows_for_ever_is_an_error_with_a_remedy(poisoned: WindowStore) -> None:
    poisoned.panel.target[poisoned.split.train] = float("inf")
    with pytest.raises(TrainingError, match=r"times in a row; use train\.precision bf16"):
        train(
            small(),
            *(WindowDataset(poisoned, part) for part in ("train", "validation")),
            recipe(replace(CONFIG, precision="fp16", epochs=20)),
        )


def test_float16_passes_over_a_bad_window_and_goes_on(poisoned: WindowStore) -> None:
    model = small()
    sets = (WindowDataset(poisoned, part) for part in ("train", "validation"))
    result = train(model, *sets, recipe(replace(CONFIG, precision="fp16")))
    assert result.counters.skipped_updates >= 2  # once an epoch
    assert all(parameter.isfinite().all() for parameter in model.parameters())


def test_one_of_several_processes_that_runs_out_of_memory_says_that_it_cannot_retry_alone() -> None:
    state = replace(new_state(small(), recipe()), processes=Processes(rank=1, count=2))
    guard = FiniteGuard(state, recipe(), pytest.fail, pytest.fail, pytest.fail)
    guard.begin()
    with pytest.raises(TrainingError, match=r"^memory ran out in process 2 of 2, .* lower accum.micro_batch"):
        guard.undo()
