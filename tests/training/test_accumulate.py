from contextlib import AbstractContextManager, nullcontext
from unittest.mock import create_autospec

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle.accumulation import article_epoch, full_batch_gradient
from torch import Tensor, nn
from torch.amp.grad_scaler import GradScaler
from torch.nn.utils import parameters_to_vector
from training.small import CONFIG, Small, random_batch, small

from candlecast.training.accumulate import (
    accumulate_gradients,
    apply_gradients,
    clip_gradients,
    micro_batches,
    total_weight,
)
from candlecast.training.loss import window_losses
from candlecast.windows.batch import Batch

OFF = GradScaler("cpu", enabled=False)


def loss_sum_of(model: Small):
    def loss_sum(batch: Batch) -> Tensor:
        return torch.dot(window_losses(model(batch.inputs), batch, CONFIG), batch.weight)

    return loss_sum


def gradient_of(model: nn.Module) -> Tensor:
    return torch.cat([parameter.grad.flatten() for parameter in model.parameters()])


def accumulated(model: Small, batch: Batch, micro_batch: int) -> tuple[Tensor, Tensor]:
    model.zero_grad(set_to_none=True)
    slices = micro_batches(batch, micro_batch)
    loss = accumulate_gradients(loss_sum_of(model), slices, total_weight(batch), OFF)
    return loss, gradient_of(model)


def relative_error(found: Tensor, expected: Tensor) -> float:
    return float((found - expected).norm() / expected.norm())


@settings(max_examples=60, deadline=None)
@given(
    windows=st.integers(1, 40),
    micro_batch=st.integers(1, 40),
    norm=st.sampled_from(["layer", "group", "none"]),
    seed=st.integers(0, 1000),
)
def test_any_micro_batch_gives_the_full_batch_gradient_in_float64(
    windows: int, micro_batch: int, norm: str, seed: int
) -> None:
    model, batch = small(norm, dtype=torch.float64), random_batch(windows, seed)
    expected_loss, expected = full_batch_gradient(model, batch, CONFIG)
    loss, gradient = accumulated(model, batch, micro_batch)

    assert abs(loss - expected_loss) <= 1e-12 * abs(expected_loss)
    assert relative_error(gradient, expected) <= 1e-12


@pytest.mark.parametrize("norm", ["layer", "group"])
@pytest.mark.parametrize(("windows", "micro_batch"), [(32, 6), (32, 4), (7, 3), (5, 5), (1, 4)])
def test_float32_agrees_to_a_hundred_thousandth(norm: str, windows: int, micro_batch: int) -> None:
    model, batch = small(norm), random_batch(windows, dtype=torch.float32)
    _, expected = full_batch_gradient(model, batch, CONFIG)
    _, gradient = accumulated(model, batch, micro_batch)
    assert relative_error(gradient, expected) <= 1e-5


@pytest.mark.parametrize("micro_batch", [4, 8])
def test_batch_norm_breaks_the_equality_because_it_sees_only_the_micro_batch(micro_batch: int) -> None:
    model, batch = small("batch", dtype=torch.float64), random_batch(32)
    _, expected = full_batch_gradient(model, batch, CONFIG)
    _, gradient = accumulated(model, batch, micro_batch)
    assert relative_error(gradient, expected) > 1e-2


def test_the_mean_of_ragged_micro_batch_means_over_k_is_wrong() -> None:
    """5 x 6 + 2 windows: the two of the last micro-batch would count three times as much."""
    model, batch = small(dtype=torch.float64), random_batch(32)
    _, expected = full_batch_gradient(model, batch, CONFIG)
    model.zero_grad()
    slices = micro_batches(batch, 6)
    for part in slices:
        (loss_sum_of(model)(part) / part.weight.sum() / len(slices)).backward()
    assert relative_error(gradient_of(model), expected) > 1e-2


def test_micro_batches_lose_no_window_and_keep_their_order() -> None:
    batch = random_batch(11)
    slices = micro_batches(batch, 4)
    assert [len(part) for part in slices] == [4, 4, 3]
    assert torch.equal(torch.cat([part.rows for part in slices]), batch.rows)


def test_an_update_unscales_clips_steps_updates_and_clears_in_this_order(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    calls: list[str] = []
    model = small()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scaler = create_autospec(GradScaler, instance=True)
    scaler.unscale_.side_effect = lambda optimizer: calls.append("unscale")
    scaler.step.side_effect = lambda optimizer: calls.append("step")
    scaler.update.side_effect = lambda: calls.append("update")
    monkeypatch.setattr(
        "candlecast.training.accumulate.clip_grad_norm_", lambda parameters, norm: calls.append("clip")
    )
    monkeypatch.setattr(optimizer, "zero_grad", lambda set_to_none: calls.append("zero"))

    clip_gradients(optimizer, scaler, 1.0)
    apply_gradients(optimizer, scaler)

    assert calls == ["unscale", "clip", "step", "update", "zero"]


def test_the_norm_is_that_of_the_unscaled_gradient_and_the_clip_bounds_it() -> None:
    model, batch = small(), random_batch(8, dtype=torch.float32)
    _, expected = full_batch_gradient(model, batch, CONFIG)
    model.zero_grad()
    optimizer, scaler = torch.optim.SGD(model.parameters(), lr=0.1), GradScaler("cpu", init_scale=2.0**12)
    slices = micro_batches(batch, 3)
    accumulate_gradients(loss_sum_of(model), slices, total_weight(batch), scaler)

    norm = clip_gradients(optimizer, scaler, 0.01)

    assert norm.item() == pytest.approx(expected.norm().item(), rel=1e-5)
    assert gradient_of(model).norm().item() == pytest.approx(0.01, rel=1e-4)


def test_the_context_is_told_which_micro_batch_is_the_last() -> None:
    told: list[bool] = []

    def context(last: bool) -> AbstractContextManager[None]:
        told.append(last)
        return nullcontext()

    model, batch = small(dtype=torch.float64), random_batch(10)
    accumulate_gradients(loss_sum_of(model), micro_batches(batch, 4), total_weight(batch), OFF, context)
    assert told == [False, False, True]


def test_an_overflow_in_one_micro_batch_skips_the_update_clears_the_buffer_and_halves_the_scale() -> None:
    model, batch = small(), random_batch(9, dtype=torch.float32)
    optimizer, scaler = torch.optim.AdamW(model.parameters(), lr=0.1), GradScaler("cpu", init_scale=1024.0)
    before = [parameter.detach().clone() for parameter in model.parameters()]

    def update(bad: int | None) -> Tensor:
        parts = micro_batches(batch, 3)

        def loss_sum(part: Batch) -> Tensor:
            overflow = bad is not None and part.rows[0] == parts[bad].rows[0]
            return loss_sum_of(model)(part) * (float("inf") if overflow else 1.0)

        accumulate_gradients(loss_sum, parts, total_weight(batch), scaler)
        norm = clip_gradients(optimizer, scaler, 1.0)
        apply_gradients(optimizer, scaler, finite=bool(norm.isfinite()))
        return norm

    assert not update(bad=1).isfinite()
    assert all(map(torch.equal, model.parameters(), before))
    assert not optimizer.state
    assert all(parameter.grad is None for parameter in model.parameters())
    assert scaler.get_scale() == 512.0

    assert update(bad=None).isfinite()
    assert not any(map(torch.equal, model.parameters(), before))


class TestTheArticlesModuloForm:
    """`if (i + 1) % steps == 0`, divided by a constant: kept as the wrong way, with its faults."""

    def test_the_tail_of_an_epoch_leaks_into_the_next(self) -> None:
        model, batch = small(dtype=torch.float64), random_batch(20)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        updates = article_epoch(model, optimizer, micro_batches(batch, 4), steps=2, config=CONFIG)

        assert updates == 2  # of the three that five micro-batches need
        assert gradient_of(model).norm() > 0.0  # left for the next epoch's first update

    def test_fewer_batches_than_steps_train_nothing(self) -> None:
        model, batch = small(dtype=torch.float64), random_batch(12)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        before = [parameter.detach().clone() for parameter in model.parameters()]
        updates = sum(
            article_epoch(model, optimizer, micro_batches(batch, 4), steps=8, config=CONFIG) for _ in range(5)
        )
        assert updates == 0
        assert all(map(torch.equal, model.parameters(), before))

    def test_it_is_right_only_when_everything_divides(self) -> None:
        batch = random_batch(16)
        batch.weight.fill_(1.0)
        errors = []
        for divides in (True, False):
            model = small(dtype=torch.float64)
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            slices = micro_batches(batch, 4 if divides else 6)
            article_epoch(model, optimizer, slices, steps=len(slices), config=CONFIG)
            expected = small(dtype=torch.float64)
            full_batch_gradient(expected, batch, CONFIG)
            torch.optim.SGD(expected.parameters(), lr=0.1).step()
            ours, theirs = (parameters_to_vector(m.parameters()).detach() for m in (model, expected))
            errors.append(relative_error(ours, theirs))
        assert errors[0] <= 1e-12
        assert errors[1] > 1e-4
