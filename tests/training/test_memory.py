from dataclasses import replace

import pytest
import torch
from oracle.memory_ledger import saved_activations
from torch._subclasses.fake_tensor import FakeTensorMode
from training.small import CONFIG, recipe

from candlecast.models.config import ModelConfig
from candlecast.models.hybrid import build_model
from candlecast.training.memory import MemoryModel, MemorySplit, predict, probe, track_update
from candlecast.training.precision import Name
from candlecast.training.rehearsal import Workload

MODEL = ModelConfig(
    width=8,
    tcn_blocks=2,
    kernel_size=3,
    layers=2,
    heads=2,
    dropout=0.1,
    norm="layer",
    checkpoint_activations=False,
)
WORKLOAD = Workload(model=MODEL, recipe=recipe(), num_features=5, length=64)


@pytest.fixture(scope="module")
def memory() -> MemoryModel:
    return predict(WORKLOAD, "fp32")


def update(steps: int, workload: Workload = WORKLOAD) -> MemorySplit:
    """Return the peak of a whole update of fake tensors, inputs left out."""
    with FakeTensorMode():
        held = track_update(workload, "fp32", 32, steps, gradient_held=False)
    return replace(held, inputs=0.0)


@pytest.mark.parametrize("checkpoint", [False, True])
def test_a_probe_on_fake_tensors_equals_the_update_on_real_ones(checkpoint: bool) -> None:
    workload = WORKLOAD.checkpointing(checkpoint)
    real = track_update(workload, "fp32", 32, steps=3, gradient_held=False)
    assert update(3, workload) == replace(real, inputs=0.0)


def test_three_probes_predict_the_peak_of_any_micro_batch(memory: MemoryModel) -> None:
    for micro_batch in (1, 24, 1024):
        predicted = memory.peak(micro_batch, effective_batch=micro_batch)
        probed = probe(WORKLOAD, "fp32", micro_batch)
        assert predicted.total == pytest.approx(probed.total, rel=0.02)
        assert predicted.activations == pytest.approx(probed.activations, rel=0.05)


def test_the_second_step_costs_one_gradient_copy_and_further_ones_nothing(memory: MemoryModel) -> None:
    one, two, five = (update(steps) for steps in (1, 2, 5))
    assert two.total == five.total == pytest.approx(replace(memory.peak(32, 32), inputs=0.0).total)
    assert two.gradients == two.parameters
    assert 0 < two.total - one.total <= two.gradients


def test_parameters_and_optimizer_state_are_counted_to_the_byte(memory: MemoryModel) -> None:
    model = build_model(MODEL, WORKLOAD.num_features, WORKLOAD.length)
    sizes = [4 * parameter.numel() for parameter in model.parameters()]
    assert memory.fixed.parameters == pytest.approx(sum(sizes))
    assert memory.fixed.gradients == pytest.approx(sum(sizes))
    # Two moments of every weight, and an update counter of every parameter.
    assert memory.fixed.optimizer == pytest.approx(2 * sum(sizes) + 4 * len(sizes))


def test_the_moving_average_takes_one_more_copy_of_the_weights() -> None:
    averaged = replace(WORKLOAD, recipe=recipe(replace(CONFIG, ema_half_life=100)))
    plain, moving = (probe(workload, "fp32", 2) for workload in (WORKLOAD, averaged))
    assert plain.copies == plain.parameters
    assert moving.copies == 2 * plain.parameters


def test_inputs_grow_with_the_effective_batch_alone(memory: MemoryModel) -> None:
    window = 4 * (64 * 5 + 3) + 8
    assert memory.peak(4, 32).inputs == 32 * window
    assert memory.peak(8, 32).inputs == 32 * window


@pytest.mark.parametrize("precision", ["bf16", "fp16"])
def test_half_precision_holds_less(memory: MemoryModel, precision: Name) -> None:
    half = probe(WORKLOAD, precision, 64)
    assert 0.4 < half.activations / memory.peak(64, 128).activations < 0.8


def test_checkpointing_holds_less() -> None:
    deep = replace(WORKLOAD, model=replace(MODEL, tcn_blocks=6))
    kept, recomputed = (probe(deep.checkpointing(switch), "fp32", 64) for switch in (False, True))
    assert recomputed.activations < 0.6 * kept.activations


def test_probing_draws_no_random_number_and_leaves_no_fake_weight_behind() -> None:
    state = torch.random.get_rng_state()
    probe(WORKLOAD, "fp32", 2)
    assert torch.equal(state, torch.random.get_rng_state())
    assert type(torch.zeros(1)) is torch.Tensor


@pytest.mark.parametrize(
    ("norm", "precision"), [("layer", "fp32"), ("layer", "bf16"), ("group", "fp32"), ("batch", "fp32")]
)
def test_what_autograd_keeps_agrees_with_the_tracker(norm: str, precision: Name) -> None:
    workload = replace(WORKLOAD, model=replace(MODEL, norm=norm))
    kept = saved_activations(workload, precision, 64)
    tracked = probe(workload, precision, 64).activations
    assert 0.85 * tracked <= kept <= tracked


def test_under_checkpointing_what_autograd_keeps_is_a_lower_bound() -> None:
    workload = WORKLOAD.checkpointing(True)
    assert saved_activations(workload, "fp32", 64) < probe(workload, "fp32", 64).activations


def test_the_largest_micro_batch_is_the_last_one_within_the_budget(memory: MemoryModel) -> None:
    for micro_batch in (1, 7, 100):
        budget = memory.peak(micro_batch, effective_batch=128).total
        assert memory.largest_micro_batch(budget, effective_batch=128) == micro_batch
        assert memory.largest_micro_batch(budget - 1, effective_batch=128) == micro_batch - 1


def test_no_micro_batch_is_larger_than_the_effective_batch(memory: MemoryModel) -> None:
    assert memory.largest_micro_batch(1e15, effective_batch=128) == 128


def test_where_the_optimizer_makes_the_peak_small_micro_batches_cost_the_same() -> None:
    part = MemorySplit(parameters=10, gradients=10, optimizer=20, activations=0, inputs=0, copies=0)
    growth = MemorySplit(parameters=0, gradients=0, optimizer=0, activations=5, inputs=0, copies=0)
    step = replace(part, optimizer=50)
    memory = MemoryModel(fixed=part, per_window=growth, floor=step, input_bytes=0)
    assert memory.peak(1, 8).total == memory.peak(6, 8).total == 70
    assert memory.peak(7, 8).total == 75
    assert memory.largest_micro_batch(70, 8) == 6
    assert memory.largest_micro_batch(69, 8) == 0
