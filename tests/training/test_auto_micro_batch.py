from dataclasses import replace

import pytest
import torch
from training.small import CONFIG

from candlecast.errors import TrainingError
from candlecast.models.config import ModelConfig
from candlecast.training import auto_micro_batch
from candlecast.training.auto_micro_batch import choose_micro_batch, device_plan, free_memory, verified
from candlecast.training.config import AccumConfig, Recipe
from candlecast.training.rehearsal import Rehearsal, Workload

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
