"""How accumulation goes wrong elsewhere, as code: each way differs from the right one in one place.

A way trains the small model for two epochs of three effective batches, the last of them short, in ragged
micro-batches of weighted windows, with a float16-style loss scale and one overflow on the way.
"""

from dataclasses import dataclass, field

import torch
from oracle.accumulation import losses
from torch import Tensor
from torch.amp.grad_scaler import GradScaler
from torch.nn.utils import clip_grad_norm_
from training.small import CONFIG, Small, random_batch, small

from candlecast.training.accumulate import (
    accumulate_gradients,
    apply_gradients,
    clip_gradients,
    micro_batches,
    total_weight,
)
from candlecast.training.average import WeightAverage
from candlecast.training.loss import window_losses
from candlecast.training.schedule import learning_rate
from candlecast.windows.batch import Batch

MICRO, STEPS, EPOCHS = 4, 3, 2
SIZES = (10, 10, 3)  # windows in the effective batches of an epoch: ragged micro-batches, a short tail
UPDATES = EPOCHS * len(SIZES)
HALF_LIFE = 20
CLIP = 0.2  # below every gradient's norm here
OVERFLOW = 1014  # the window whose gradient overflows, in the second effective batch


def epochs() -> list[list[Batch]]:
    """Return each epoch's effective batches; rows number all windows from 1000 on."""
    batches, row = [], 1000
    for number, size in enumerate(SIZES * EPOCHS):
        batch = random_batch(size, seed=number)
        batch.rows.copy_(torch.arange(row, row + size))
        batches.append(batch)
        row += size
    return [batches[: len(SIZES)], batches[len(SIZES) :]]


def rate(update: int) -> float:
    return learning_rate((update + 1) / UPDATES, 0.05, 0.1, 0.3)


@dataclass
class Outcome:
    """What a training did: one entry an applied update."""

    weights: dict[str, Tensor]
    average: list[Tensor]
    rates: list[float] = field(default_factory=list)
    losses: list[float] = field(default_factory=list)


def by_large_batches() -> Outcome:
    """Train on each effective batch at once, written out with plain autograd and plain AdamW."""
    model = small(dtype=torch.float64)
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.0, weight_decay=0.1)
    average = [parameter.detach().clone() for parameter in model.parameters()]
    outcome = Outcome(model.state_dict(), average)
    for batch in [batch for batches in epochs() for batch in batches]:
        if OVERFLOW in batch.rows:
            continue
        optimizer.param_groups[0]["lr"] = rate(len(outcome.rates))
        loss = (losses(model(batch.inputs), batch, CONFIG) * batch.weight).sum() / batch.weight.sum()
        optimizer.zero_grad()
        loss.backward()
        norm = torch.cat([parameter.grad.flatten() for parameter in model.parameters()]).norm()
        assert norm > CLIP
        for parameter in model.parameters():
            parameter.grad *= CLIP / (norm + 1e-6)  # torch's own guard against a norm of 0
        optimizer.step()
        keep = 0.5 ** (len(batch) / HALF_LIFE)
        for value, parameter in zip(average, model.parameters(), strict=True):
            value.copy_(keep * value + (1 - keep) * parameter.detach())
        outcome.rates.append(rate(len(outcome.rates)))
        outcome.losses.append(loss.item())
    return outcome


class RightWay:
    """The trainer's own parts, put together as its loop does."""

    def __init__(self) -> None:
        self.model: Small = small(dtype=torch.float64)
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=0.0, weight_decay=0.1)
        self.scaler = GradScaler("cpu", init_scale=1024.0, growth_interval=2)
        self.average = WeightAverage(self.model, HALF_LIFE)
        self.update_number, self.rates, self.losses = 0, [], []

    def run(self) -> Outcome:
        for batches in epochs():
            self.epoch(batches)
        return Outcome(self.model.state_dict(), self.average.values, self.rates, self.losses)

    def epoch(self, batches: list[Batch]) -> None:
        for batch in batches:
            self.update(batch)

    def update(self, batch: Batch) -> None:
        self.set_rate()
        loss = self.accumulate(batch)
        norm = self.clip()
        finite = bool(norm.isfinite())
        self.apply(finite)
        if finite:
            self.applied(len(batch), loss)

    def set_rate(self) -> None:
        for group in self.optimizer.param_groups:
            group["lr"] = rate(self.update_number)

    def accumulate(self, batch: Batch) -> Tensor:
        return accumulate_gradients(
            self.loss_sum, micro_batches(batch, MICRO), total_weight(batch), self.scaler
        )

    def loss_sum(self, batch: Batch) -> Tensor:
        total = torch.dot(window_losses(self.model(batch.inputs), batch, CONFIG), batch.weight)
        return total * (float("inf") if OVERFLOW in batch.rows else 1.0)

    def clip(self) -> Tensor:
        return clip_gradients(self.optimizer, self.scaler, CLIP)

    def apply(self, finite: bool) -> None:
        apply_gradients(self.optimizer, self.scaler, finite=finite)

    def applied(self, windows: int, loss: Tensor) -> None:
        self.average.update(windows)
        self.rates.append(self.optimizer.param_groups[0]["lr"])
        self.losses.append(loss.item())
        self.update_number += 1

    def backward(self, loss: Tensor) -> Tensor:
        self.scaler.scale(loss).backward()
        return loss.detach()


class MeanOfMeans(RightWay):
    """Each micro-batch's mean, divided by their number: a short one's windows count too much."""

    def accumulate(self, batch: Batch) -> Tensor:
        parts = micro_batches(batch, MICRO)
        return sum(self.backward(self.loss_sum(part) / part.weight.sum() / len(parts)) for part in parts)


class ConstantDivisor(RightWay):
    """The configured number of steps divides also the tail, which has fewer."""

    def accumulate(self, batch: Batch) -> Tensor:
        parts = micro_batches(batch, MICRO)
        return sum(self.backward(self.loss_sum(part) / part.weight.sum() / STEPS) for part in parts)


class WindowsCountedNotWeighed(RightWay):
    """The number of windows divides a weighted sum."""

    def accumulate(self, batch: Batch) -> Tensor:
        return sum(self.backward(self.loss_sum(part) / len(batch)) for part in micro_batches(batch, MICRO))


class TailDropped(RightWay):
    """An effective batch that is not full is thrown away."""

    def epoch(self, batches: list[Batch]) -> None:
        super().epoch([batch for batch in batches if len(batch) == SIZES[0]])


class TailCarriedOver(RightWay):
    """The modulo form: what is left at an epoch's end stays in .grad for the next epoch's first update."""

    def epoch(self, batches: list[Batch]) -> None:
        parts = [part for batch in batches for part in micro_batches(batch, MICRO)]
        for index, part in enumerate(parts):
            loss = self.backward(self.loss_sum(part) / part.weight.sum() / STEPS)
            if (index + 1) % STEPS == 0:
                self.set_rate()
                finite = bool(self.clip().isfinite())
                self.apply(finite)
                if finite:
                    self.applied(len(part), loss)


class ScheduleAMicroStep(RightWay):
    """The scheduler moves with every micro-batch."""

    micro_step = 0

    def set_rate(self) -> None:
        for group in self.optimizer.param_groups:
            group["lr"] = rate(self.micro_step)

    def loss_sum(self, batch: Batch) -> Tensor:
        self.micro_step += 1
        return super().loss_sum(batch)


class ScheduleMovesOnASkip(RightWay):
    """The scheduler moves although no weight did."""

    def apply(self, finite: bool) -> None:
        super().apply(finite)
        self.update_number += not finite


class AverageAMicroStep(RightWay):
    """The moving average of the weights moves with every micro-batch."""

    def loss_sum(self, batch: Batch) -> Tensor:
        self.average.update(len(batch))
        return super().loss_sum(batch)

    def applied(self, windows: int, loss: Tensor) -> None:
        super().applied(0, loss)


class AverageMovesOnASkip(RightWay):
    """The moving average takes in the same weights once more."""

    def apply(self, finite: bool) -> None:
        super().apply(finite)
        if not finite:
            self.average.update(SIZES[1])


class ClippedBeforeUnscaled(RightWay):
    """The clip sees the gradient times the loss scale."""

    def clip(self) -> Tensor:
        norm = clip_grad_norm_(self.model.parameters(), CLIP)
        self.scaler.unscale_(self.optimizer)
        return norm


class UnscaledEveryMicroStep(RightWay):
    """Unscaling before the last backward pass mixes scaled and unscaled gradients."""

    def accumulate(self, batch: Batch) -> Tensor:
        loss, n = torch.zeros(()), total_weight(batch)
        for part in micro_batches(batch, MICRO):
            loss = loss + self.backward(self.loss_sum(part) / n)
            for parameter in self.model.parameters():
                parameter.grad /= self.scaler.get_scale()
        return loss

    def clip(self) -> Tensor:
        super().clip()
        scale = self.scaler.get_scale()
        for parameter in self.model.parameters():
            parameter.grad *= scale
        return clip_grad_norm_(self.model.parameters(), CLIP)


class ScaleNotUpdatedAfterASkip(RightWay):
    """`update()` is left out together with the step, so the next `unscale_` is refused."""

    def apply(self, finite: bool) -> None:
        if finite:
            super().apply(finite)
        else:
            self.optimizer.zero_grad()


class GradientKeptAfterASkip(RightWay):
    """`zero_grad` is left out together with the step: the infinity stays, and nothing is learnt again."""

    def apply(self, finite: bool) -> None:
        if finite:
            super().apply(finite)
        else:
            self.scaler.update()


class GradientNeverCleared(RightWay):
    """Every update is made of all gradients so far."""

    def apply(self, finite: bool) -> None:
        if finite:
            self.scaler.step(self.optimizer)
        else:
            self.optimizer.zero_grad()
        self.scaler.update()


class MomentsAMicroStep(RightWay):
    """Adam's moments decay with every micro-batch, and the weights with them."""

    def accumulate(self, batch: Batch) -> Tensor:
        loss, n = torch.zeros(()), total_weight(batch)
        parts = micro_batches(batch, MICRO)
        for part in parts:
            loss = loss + self.backward(self.loss_sum(part) / n)
            if part is not parts[-1]:
                for parameter in self.model.parameters():
                    state = self.optimizer.state[parameter]
                    if state:
                        state["exp_avg"] *= 0.9
                        state["exp_avg_sq"] *= 0.999
        return loss


class StepAMicroStep(RightWay):
    """No accumulation at all: the optimiser steps with every micro-batch."""

    def update(self, batch: Batch) -> None:
        for part in micro_batches(batch, MICRO):
            super().update(part)


class LastLossLogged(RightWay):
    """The last micro-batch's loss stands for all."""

    def accumulate(self, batch: Batch) -> Tensor:
        super().accumulate(batch)
        last = micro_batches(batch, MICRO)[-1]
        with torch.no_grad():
            return self.loss_sum(last) / last.weight.sum()


class SkippedUpdateApplied(RightWay):
    """The step is taken whatever the gradient."""

    def apply(self, finite: bool) -> None:
        self.optimizer.step()
        self.scaler.update()
        self.optimizer.zero_grad()


FAULTY_WAYS = tuple(RightWay.__subclasses__())
