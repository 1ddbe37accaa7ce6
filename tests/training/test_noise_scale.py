import math
from dataclasses import replace

import pytest
import torch
from torch import Tensor, nn
from torch.amp.grad_scaler import GradScaler
from training.small import CONFIG, recipe, small

from candlecast.training.accumulate import accumulate_gradients, clip_gradients, micro_batches, total_weight
from candlecast.training.loop import TrainingResult, train
from candlecast.training.noise_scale import NoiseMeter, SmoothedNoise, fieller, trace_and_signal
from candlecast.windows.batch import Batch
from candlecast.windows.dataset import WindowDataset
from candlecast.windows.store import WindowStore

OFF = GradScaler("cpu", enabled=False)
SIZE = 24  # parameters


class Known(nn.Module):
    """A linear loss: window i's gradient is its inputs, so signal and covariance are ours to choose."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Parameter(torch.zeros(SIZE // 2)), nn.Parameter(torch.zeros(SIZE // 2))

    def loss_sum(self, batch: Batch) -> Tensor:
        return batch.weight @ (batch.inputs[:, 0] @ torch.cat([self.first, self.second]))


def draw(windows: int, mean: Tensor, deviation: Tensor, generator: torch.Generator) -> Batch:
    gradients = mean + deviation * torch.randn(windows, SIZE, generator=generator, dtype=torch.float64)
    ones = torch.ones(windows, dtype=torch.float64)
    return Batch(gradients.unsqueeze(1), ones, ones, ones, torch.arange(windows))


def measure(model: Known, batch: Batch, micro_batch: int, scaler: GradScaler = OFF) -> tuple[float, float]:
    model.zero_grad()
    meter = NoiseMeter(model.parameters(), every=1, probe=0)
    n = total_weight(batch)
    accumulate_gradients(meter.watch(model.loss_sum, 0), micro_batches(batch, micro_batch), n, scaler)
    sums = meter.result(batch.weight, scaler.get_scale())
    assert sums is not None
    norm = clip_gradients(torch.optim.SGD(model.parameters()), scaler, 1e9)
    spread, share, weight, squared = sums.tolist()
    measured = trace_and_signal(spread, share, norm.item(), weight, squared)
    assert measured is not None
    return measured


@pytest.mark.parametrize("weighted", [False, True])
def test_it_is_unbiased_on_a_problem_with_a_known_answer(weighted: bool) -> None:
    generator = torch.Generator().manual_seed(1)
    model = Known().double()
    mean = 0.5 * torch.randn(SIZE, generator=generator, dtype=torch.float64)
    deviation = 1 + torch.rand(SIZE, generator=generator, dtype=torch.float64)
    trace, signal = deviation.square().sum().item(), mean.square().sum().item()

    measured = []
    for _ in range(500):
        batch = draw(22, mean, deviation, generator)  # 22 = 4 x 5 + 2: the last micro-batch is short
        if weighted:
            weight = 0.5 + torch.rand(22, generator=generator, dtype=torch.float64)
            batch = replace(batch, weight=weight)
        measured.append(measure(model, batch, 5))
    for values, truth in zip(zip(*measured, strict=True), (trace, signal), strict=True):
        found = torch.tensor(values, dtype=torch.float64)
        standard_error = found.std() / len(found) ** 0.5
        assert abs(found.mean() - truth) < 3 * standard_error
        assert standard_error < 0.05 * truth


def test_it_is_the_textbook_formula_when_all_micro_batches_are_equal() -> None:
    generator = torch.Generator().manual_seed(2)
    model = Known().double()
    batch = draw(32, torch.ones(SIZE, dtype=torch.float64), torch.ones(SIZE, dtype=torch.float64), generator)
    small_norms = [part.inputs.mean(dim=(0, 1)).square().sum() for part in micro_batches(batch, 8)]
    small_square, big_square = torch.stack(small_norms).mean(), batch.inputs.mean(dim=(0, 1)).square().sum()

    trace, signal = measure(model, batch, 8)

    assert trace == pytest.approx(((small_square - big_square) / (1 / 8 - 1 / 32)).item())
    assert signal == pytest.approx(((32 * big_square - 8 * small_square) / (32 - 8)).item())


def test_the_loss_scale_does_not_enter() -> None:
    generator = torch.Generator().manual_seed(3)
    one = torch.ones(SIZE, dtype=torch.float64)
    batch = draw(12, one, one, generator)
    plain = measure(Known().double(), batch, 4)
    scaled = measure(Known().double(), batch, 4, GradScaler("cpu", init_scale=1024.0))
    assert scaled == pytest.approx(plain)


def test_one_micro_batch_measures_nothing() -> None:
    assert trace_and_signal(spread=3.0, share=1.0, grad_norm=1.0, weight=8.0, squared_weight=8.0) is None


def test_the_ratio_is_taken_last_with_an_interval_that_covers_the_truth_nine_times_in_ten() -> None:
    generator = torch.Generator().manual_seed(4)
    covered, trials = 0, 400
    for _ in range(trials):
        smoothed = SmoothedNoise()
        for _ in range(60):
            error = torch.randn(2, generator=generator).tolist()
            smoothed.add(100.0 + 30.0 * error[0], 2.0 + 2.0 * error[1] - 0.5 * error[0])
        estimate = smoothed.estimate()
        assert estimate is not None
        covered += estimate.low <= 50.0 <= estimate.high
    assert 0.85 < covered / trials < 0.95


def test_a_signal_that_is_not_positive_is_noise_dominated_and_not_clamped() -> None:
    smoothed = SmoothedNoise()
    for value in (-0.3, -0.1, -0.2, -0.2):
        smoothed.add(10.0, value)
    estimate = smoothed.estimate()
    assert estimate is not None
    assert estimate.scale is None
    assert estimate.signal < 0
    assert estimate.high == math.inf


def test_an_uncertain_signal_has_no_upper_bound() -> None:
    low, high = fieller(10.0, 1.0, 0.01, 0.0, bb=4.0)
    assert high == math.inf
    assert 0 < low < 10.0
    assert fieller(10.0, 1.0, 0.0, 0.0, 0.0) == pytest.approx((10.0, 10.0))


def run(store: WindowStore, **changes: object) -> tuple[TrainingResult, nn.Module]:
    accum = {name: changes.pop(name) for name in ("micro_batch", "steps") if name in changes}
    config, model = replace(CONFIG, **changes), small()
    sets = WindowDataset(store, "train"), WindowDataset(store, "validation")
    return train(model, *sets, recipe(config, **accum)), model


def test_measuring_changes_not_a_bit_of_the_training(store: WindowStore) -> None:
    _, quiet = run(store)
    result, loud = run(store, noise_every=1)
    assert all(map(torch.equal, loud.parameters(), quiet.parameters()))
    assert result.updates[-2].noise is not None  # the last one has but one micro-batch


def test_updates_between_measurements_carry_none(store: WindowStore) -> None:
    result, _ = run(store, noise_every=3)
    measured = [record.update for record in result.updates if record.noise is not None]
    assert measured == [record.update for record in result.updates if record.update % 3 == 1][2:]


def test_a_probe_measures_runs_of_one_micro_batch_and_leaves_their_gradient_alone(store: WindowStore) -> None:
    plain, _ = run(store, noise_every=4, micro_batch=12, steps=1)
    probed, _ = run(store, noise_every=4, noise_probe=3, micro_batch=12, steps=1)
    assert all(record.noise is None for record in plain.updates)
    assert probed.updates[-2].noise is not None
    for ours, theirs in zip(probed.updates, plain.updates, strict=True):
        assert ours.loss == pytest.approx(theirs.loss, rel=1e-5)
    assert probed.counters.micro_step > plain.counters.micro_step


def test_no_hook_is_left_on_the_parameters(store: WindowStore) -> None:
    _, model = run(store, noise_every=1)
    assert all(not parameter._backward_hooks for parameter in model.parameters())
