"""Everything a training changes: what a checkpoint must hold for a resume to be exact."""

from dataclasses import dataclass, field, replace
from typing import Self

import torch
from torch import Tensor, nn

from candlecast.training.average import WeightAverage
from candlecast.training.best import Best
from candlecast.training.budget import Budget, Counters, Stopwatch
from candlecast.training.config import Recipe
from candlecast.training.distributed import Processes, current_processes
from candlecast.training.generators import restore_generators, torch_generators
from candlecast.training.noise_scale import SmoothedNoise
from candlecast.training.optimizer import make_optimizer
from candlecast.training.precision import Precision, make_precision
from candlecast.training.records import Outcome, TrainingPlan, UpdateRecord, ValidationRecord


@dataclass(slots=True, kw_only=True)
class TrainingState:
    """The model, what moves it, and what was counted and said."""

    model: nn.Module
    device: torch.device
    processes: Processes
    precision: Precision
    optimizer: torch.optim.Optimizer
    average: WeightAverage
    micro_batch: int  # smaller than accum.micro_batch once memory has run out
    counters: Counters = field(default_factory=Counters)
    best: Best = field(default_factory=Best)
    noise: SmoothedNoise = field(default_factory=SmoothedNoise)
    stopwatch: Stopwatch = field(default_factory=Stopwatch)
    updates: list[UpdateRecord] = field(default_factory=list)
    validations: list[ValidationRecord] = field(default_factory=list)
    outcome: Outcome | None = None  # None: not over


def new_state(model: nn.Module, recipe: Recipe) -> TrainingState:
    """Return the state before the first update, on the model's device; seeds torch's generators."""
    processes = current_processes()
    torch.manual_seed(recipe.seed + (processes.rank << 32))  # each process draws its own dropout
    device = next(model.parameters()).device
    return TrainingState(
        model=model,
        device=device,
        processes=processes,
        precision=make_precision(recipe.train.precision, device),
        optimizer=make_optimizer(model, recipe),
        average=WeightAverage(model, recipe.train.ema_half_life),
        micro_batch=recipe.accum.windows_per_pass,
    )


def make_plan(state: TrainingState, recipe: Recipe, budget: Budget, validation_windows: int) -> TrainingPlan:
    """Return what the observers are told before the first update."""
    return TrainingPlan(
        parameters=sum(parameter.numel() for parameter in state.model.parameters()),
        training_windows=budget.windows,
        validation_windows=validation_windows,
        micro_batch=state.micro_batch,
        effective_batch=budget.effective_batch,
        total_updates=budget.total_updates,
        total_samples=budget.total_samples,
        peak_lr=recipe.train.scaled_peak_lr(budget.effective_batch),
        beta2=recipe.train.scaled_beta2(budget.effective_batch),
        precision=state.precision.name,
        device=str(state.device),
        processes=state.processes.count,
        resumed_update=state.counters.update,
        resumed_samples=state.counters.samples_seen,
        earlier_updates=tuple(state.updates),
        earlier_validations=tuple(state.validations),
    )


@dataclass(frozen=True, slots=True)
class Moment:
    """What forward passes move, and the counters, as they stood before an update; microseconds to take."""

    counters: Counters
    generators: dict[str, Tensor]
    buffers: list[Tensor]  # such as batch norm's running statistics

    @classmethod
    def of(cls, state: TrainingState) -> Self:
        """Return the present moment."""
        buffers = [buffer.clone() for buffer in state.model.buffers()]
        return cls(replace(state.counters), torch_generators(state.device), buffers)

    def restore(self, state: TrainingState) -> None:
        """Put all of it back, so that the update can be tried again."""
        state.counters.restore(self.counters)
        restore_generators(self.generators, state.device)
        for buffer, earlier in zip(state.model.buffers(), self.buffers, strict=True):
            buffer.copy_(earlier)
