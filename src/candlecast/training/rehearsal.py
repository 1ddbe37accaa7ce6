"""One update of the real training code on blank windows, to learn what it holds."""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, fields, replace
from typing import Self

import torch
from torch import Tensor, nn
from torch.amp.grad_scaler import GradScaler

from candlecast.models.config import ModelConfig
from candlecast.models.hybrid import build_model
from candlecast.training.accumulate import (
    accumulate_gradients,
    apply_gradients,
    clip_gradients,
    micro_batches,
)
from candlecast.training.config import Recipe
from candlecast.training.loss import make_loss_sum
from candlecast.training.optimizer import make_optimizer
from candlecast.training.precision import Name, Precision
from candlecast.windows.batch import Batch


@dataclass(frozen=True, slots=True, kw_only=True)
class Workload:
    """What is to be trained, and how."""

    model: ModelConfig
    recipe: Recipe
    num_features: int
    length: int  # bars in a window

    def checkpointing(self, checkpoint_activations: bool) -> Self:
        """Return the same with activation checkpointing on or off."""
        return replace(self, model=replace(self.model, checkpoint_activations=checkpoint_activations))

    def blank_batch(self, num_windows: int) -> Batch:
        """Return windows of zeros."""
        return Batch(
            inputs=torch.zeros(num_windows, self.length, self.num_features),
            target=torch.zeros(num_windows),
            direction=torch.zeros(num_windows),
            weight=torch.ones(num_windows),
            rows=torch.zeros(num_windows, dtype=torch.int64),
        )


class Rehearsal:
    """A model, an optimiser that has its state, and an effective batch, all to be thrown away."""

    def __init__(
        self, workload: Workload, precision: Name, num_windows: int, device: torch.device | str = "cpu"
    ) -> None:
        with torch.device(device):
            self.model: nn.Module = build_model(workload.model, workload.num_features, workload.length)
            self.batch = workload.blank_batch(num_windows)
        self.optimizer = make_optimizer(self.model, workload.recipe)
        # A loss scale is one number, and with blank windows there is no update to skip.
        device_type = torch.device(device).type
        self.scaler = GradScaler(device_type, enabled=False)
        self.loss_sum: Callable[[Batch], Tensor] = make_loss_sum(
            self.model, workload.recipe.train, Precision(precision, device_type, self.scaler)
        )
        self._clip_norm = workload.recipe.train.clip_norm

    def prime(self) -> None:
        """Let the optimiser make its state, which every update but the first finds in place."""
        self.blank_gradients()
        apply_gradients(self.optimizer, self.scaler)

    def blank_gradients(self) -> None:
        """Give every parameter a gradient of zeros."""
        for parameter in self.model.parameters():
            parameter.grad = torch.zeros_like(parameter)

    def update(
        self,
        micro_batch: int,
        context: Callable[[bool], AbstractContextManager[object]] = lambda last: nullcontext(),
    ) -> None:
        """Train on the whole effective batch."""
        slices = micro_batches(self.batch, micro_batch)
        accumulate_gradients(self.loss_sum, slices, self.batch.weight.sum(), self.scaler, context)
        clip_gradients(self.optimizer, self.scaler, self._clip_norm)
        apply_gradients(self.optimizer, self.scaler)


def tensors(batch: Batch) -> list[Tensor]:
    """Return all tensors of a batch."""
    return [getattr(batch, field.name) for field in fields(batch)]
