import random
import weakref
from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn
from torch.amp.grad_scaler import GradScaler
from training.small import CONFIG, random_batch, recipe, small

from candlecast.errors import TrainingError
from candlecast.training.accumulate import (
    accumulate_gradients,
    apply_gradients,
    clip_gradients,
    micro_batches,
)
from candlecast.training.loss import make_loss_sum
from candlecast.training.optimizer import make_optimizer
from candlecast.training.out_of_memory import is_out_of_memory, retry_smaller
from candlecast.training.precision import Precision
from candlecast.windows.batch import Batch

EFFECTIVE, MICRO, UPDATES = 21, 8, 6


class Shortage:
    """Runs out of memory in the micro-steps it is told, before or after the forward pass."""

    def __init__(self, at: set[int], loss_sum: Callable[[Batch], Tensor]) -> None:
        self.micro_step, self.at, self.loss_sum = 0, at, loss_sum

    def __call__(self, batch: Batch) -> Tensor:
        loss = self.loss_sum(batch)
        self.micro_step += 1
        if self.micro_step in self.at:
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB.")
        return loss


def train(norm: str, shortage_at: set[int]) -> tuple[nn.Module, list[int]]:
    """Make six updates, as the loop does; return the model and the micro-batch after each."""
    model = small(norm)
    optimizer, scaler = make_optimizer(model, recipe()), GradScaler("cpu", enabled=False)
    loss_sum = Shortage(shortage_at, make_loss_sum(model, CONFIG, Precision("fp32", "cpu", scaler)))
    micro_batch, sizes = MICRO, []
    for update in range(UPDATES):
        batch = random_batch(EFFECTIVE, seed=update, dtype=torch.float32)
        buffers = [buffer.clone() for buffer in model.buffers()]

        def attempt(size: int, batch: Batch = batch) -> Tensor:
            return accumulate_gradients(loss_sum, micro_batches(batch, size), batch.weight.sum(), scaler)

        def restore(buffers: list[Tensor] = buffers) -> None:
            optimizer.zero_grad()
            for buffer, earlier in zip(model.buffers(), buffers, strict=True):
                buffer.copy_(earlier)

        _, micro_batch = retry_smaller(attempt, micro_batch, restore, lambda size, reason: None, lambda: "")
        clip_gradients(optimizer, scaler, CONFIG.clip_norm)
        apply_gradients(optimizer, scaler)
        sizes.append(micro_batch)
    return model, sizes


@pytest.mark.parametrize("seed", range(5))
def test_running_out_at_random_micro_steps_leaves_the_weights_of_an_undisturbed_run(seed: int) -> None:
    at = set(random.Random(seed).sample(range(1, 3 * UPDATES), 2))
    undisturbed, sizes = train("layer", set())
    disturbed, smaller = train("layer", at)
    assert sizes == [MICRO] * UPDATES
    assert smaller[-1] == MICRO // 4
    for one, other in zip(disturbed.parameters(), undisturbed.parameters(), strict=True):
        torch.testing.assert_close(one, other, rtol=1e-6, atol=1e-6)


def test_without_clearing_the_gradient_a_retry_would_count_windows_twice() -> None:
    model = small()
    loss_sum = Shortage({2}, make_loss_sum(model, CONFIG, Precision("fp32", "cpu", GradScaler("cpu"))))
    batch, scaler = random_batch(EFFECTIVE, dtype=torch.float32), GradScaler("cpu", enabled=False)

    def attempt(size: int) -> Tensor:
        return accumulate_gradients(loss_sum, micro_batches(batch, size), batch.weight.sum(), scaler)

    def gradient(restore: Callable[[], None]) -> Tensor:
        model.zero_grad()
        loss_sum.micro_step = 0
        retry_smaller(attempt, MICRO, restore, lambda size, reason: None, lambda: "")
        return torch.cat([p.grad.flatten() for p in model.parameters() if p.grad is not None])

    right, wrong = gradient(model.zero_grad), gradient(lambda: None)
    assert (right - wrong).norm() > 0.1 * right.norm()


def test_running_statistics_move_once_though_the_update_is_tried_twice() -> None:
    # The last micro-batch of the first update fails; all before it have moved the statistics.
    statistics = [dict(train("batch", at)[0].named_buffers()) for at in (set(), {3})]
    tracked = [int(buffers["norm.num_batches_tracked"]) for buffers in statistics]
    assert tracked == [3 * UPDATES, 6 * UPDATES]


def test_each_attempt_sees_what_the_first_one_saw() -> None:
    generator = torch.random.get_rng_state()
    seen: list[tuple[int, Tensor]] = []

    def attempt(size: int) -> str:
        seen.append((size, torch.rand(3)))
        if len(seen) < 4:
            raise torch.OutOfMemoryError("no more")
        return "done"

    reports: list[tuple[int, str]] = []
    outcome = retry_smaller(
        attempt,
        13,
        lambda: torch.random.set_rng_state(generator),
        lambda size, reason: reports.append((size, reason)),
        lambda: "",
    )
    assert outcome == ("done", 1)
    assert [size for size, _ in seen] == [13, 6, 3, 1]
    assert all(torch.equal(draw, seen[0][1]) for _, draw in seen)
    assert reports == [(6, "no more"), (3, "no more"), (1, "no more")]


def test_the_failed_attempt_holds_nothing_when_the_next_one_begins() -> None:
    activations: list[weakref.ref[Tensor]] = []

    def attempt(size: int) -> None:
        assert all(activation() is None for activation in activations)
        activation = torch.ones(size)
        activations.append(weakref.ref(activation))
        if size > 1:
            raise torch.OutOfMemoryError("no more")

    retry_smaller(attempt, 4, lambda: None, lambda size, reason: None, lambda: "")
    assert len(activations) == 3


def test_below_one_window_the_error_carries_the_plan() -> None:
    def attempt(size: int) -> None:
        raise torch.OutOfMemoryError("Tried to allocate 2.00 GiB.\nmore")

    with pytest.raises(TrainingError, match=r"one window \(Tried to allocate 2.00 GiB.\).*\n\nthe table"):
        retry_smaller(attempt, 2, lambda: None, lambda size, reason: None, lambda: "the table")


def test_other_errors_pass_through_at_once() -> None:
    def attempt(size: int) -> None:
        raise RuntimeError("mat1 and mat2 shapes cannot be multiplied")

    with pytest.raises(RuntimeError, match="cannot be multiplied"):
        retry_smaller(attempt, 2, pytest.fail, lambda size, reason: None, lambda: "")


def test_the_processors_own_allocator_is_understood() -> None:
    with pytest.raises(RuntimeError) as caught:
        torch.empty(2**60, dtype=torch.uint8)
    assert is_out_of_memory(caught.value)
