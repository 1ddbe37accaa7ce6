from dataclasses import replace

import pytest
import torch
from training.small import CONFIG, FEATURES, LENGTH, Recorder, small_store

from candlecast.errors import TrainingError
from candlecast.models.config import ModelConfig
from candlecast.models.hybrid import build_model
from candlecast.training import auto_micro_batch
from candlecast.training.auto_micro_batch import (
    choose_micro_batch,
    device_plan,
    free_memory,
    settle,
    verified,
)
from candlecast.training.config import AccumConfig, Recipe
from candlecast.training.generators import all_generators
from candlecast.training.loop import TrainingResult, train
from candlecast.training.rehearsal import Rehearsal, Workload
from candlecast.windows.batch import Batch
from candlecast.windows.dataset import WindowDataset

CPU = torch.device("cpu")
MODEL = ModelConfig(
    width=4,
    tcn_blocks=1,
    kernel_size=2,
    layers=1,
    heads=1,
    dropout=0.2,
    norm="batch",
    checkpoint_activations=False,
)
ACCUM = AccumConfig(micro_batch=1, steps=None, effective_batch=48)
WORKLOAD = Workload(model=MODEL, recipe=Recipe(train=CONFIG, accum=ACCUM, seed=1), num_features=3, length=16)


def test_with_memory_to_spare_the_whole_effective_batch_goes_at_once() -> None:
    choice = choose_micro_batch(WORKLOAD, CPU)
    assert (choice.micro_batch, choice.steps) == (48, 1)


def test_a_budget_is_kept_and_the_effective_batch_with_it() -> None:
    memory = device_plan(WORKLOAD, CPU).settings[0].memory
    budget = memory.peak(10, 48).total / 0.85
    choice = choose_micro_batch(WORKLOAD, CPU, budget + 1)
    assert (choice.largest, choice.micro_batch, choice.steps) == (10, 10, 5)


def test_no_room_for_a_window_is_an_error_with_the_table() -> None:
    with pytest.raises(TrainingError, match=r"does not carry one window (.|\n)*precision +recompute"):
        choose_micro_batch(WORKLOAD, CPU, budget=1000.0)


def test_the_precision_is_the_one_that_will_be_trained_with() -> None:
    bf16 = replace(WORKLOAD, recipe=replace(WORKLOAD.recipe, train=replace(CONFIG, precision="bf16")))
    assert device_plan(bf16, CPU).settings[0].precision == "bf16"


def test_free_memory_is_some_and_less_than_a_terabyte_of_it() -> None:
    assert 2**20 < free_memory(CPU) < 2**42


def test_verifying_halves_until_a_real_update_runs_and_moves_no_generator(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tried: list[int] = []

    class Narrow(Rehearsal):
        def update(self, micro_batch: int, *context: object) -> None:
            tried.append(micro_batch)
            if micro_batch > 10:
                raise torch.OutOfMemoryError("no more")
            super().update(micro_batch)

    monkeypatch.setattr(auto_micro_batch, "Rehearsal", Narrow)
    plan = device_plan(WORKLOAD, CPU, budget=2**30)
    state = torch.random.get_rng_state()
    choice = verified(WORKLOAD, plan.choices[0], plan, CPU)
    assert torch.equal(torch.random.get_rng_state(), state)
    assert tried == [48, 24, 12, 6]
    assert (choice.largest, choice.micro_batch, choice.steps) == (6, 6, 8)


AUTO = AccumConfig(micro_batch="auto", steps=None, effective_batch=20)


def open_workload() -> Workload:
    return Workload(
        model=replace(MODEL, norm="layer"),
        recipe=Recipe(train=CONFIG, accum=AUTO, seed=5),
        num_features=FEATURES,
        length=LENGTH,
    )


def trained(accum: AccumConfig) -> tuple[TrainingResult, Recorder, list[list[int]]]:
    """Train with room for six windows; return also what was heard, and the rows of each forward pass."""
    workload = open_workload()
    workload = replace(workload, recipe=replace(workload.recipe, accum=accum))
    torch.manual_seed(0)
    store, recorder = small_store(), Recorder()
    model = build_model(workload.model, FEATURES, LENGTH)
    passes: list[list[int]] = []

    class Noting(WindowDataset):
        def batch(self, indices: torch.Tensor) -> Batch:
            passes.append(indices.tolist())
            return super().batch(indices)

    recipe = settle(workload, CPU, [recorder])
    sets = Noting(store, "train"), WindowDataset(store, "validation")
    return train(model, *sets, recipe, [recorder]), recorder, passes


@pytest.fixture
def room_for_six(monkeypatch: pytest.MonkeyPatch) -> None:
    budget = device_plan(open_workload(), CPU).settings[0].memory.peak(6, 20).total / 0.85 + 1
    monkeypatch.setattr(auto_micro_batch, "free_memory", lambda device: budget)


@pytest.mark.usefixtures("room_for_six")
def test_auto_trains_to_the_bits_of_the_number_it_chose_with_the_same_windows_in_the_same_order() -> None:
    auto, heard, auto_order = trained(AUTO)
    assert auto.micro_batch == 5  # the smallest that takes as few steps as six: 4 x 5 = 20
    number, silent, order = trained(replace(AUTO, micro_batch=5))
    assert auto_order == order
    assert max(len(windows) for windows in auto_order) == 20
    for name, value in number.best_state.items():
        assert torch.equal(auto.best_state[name], value), name
    assert auto.counters == number.counters
    assert "micro_batch_chosen" in str(heard.told[0])
    assert "'micro_batch': 5, 'steps': 4, 'largest_that_fits': 6" in str(heard.told[0])
    assert "micro_batch_chosen" not in str(silent.told[0])


@pytest.mark.usefixtures("room_for_six")
def test_choosing_leaves_weights_buffers_and_every_generator_as_they_were() -> None:
    model = build_model(MODEL, FEATURES, LENGTH)  # with batch norm, so with buffers
    before = {name: value.clone() for name, value in model.state_dict().items()}
    generators = all_generators(CPU)
    settle(open_workload(), CPU)
    assert all(torch.equal(value, before[name]) for name, value in model.state_dict().items())
    after = all_generators(CPU)
    assert all(torch.equal(after[name], value) for name, value in generators.items())


def test_a_number_is_left_alone() -> None:
    recipe = replace(open_workload().recipe, accum=replace(AUTO, micro_batch=3))
    assert settle(replace(open_workload(), recipe=recipe), CPU) is recipe
