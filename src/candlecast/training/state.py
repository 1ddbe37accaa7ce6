"""Everything a training changes: what a checkpoint must hold for a resume to be exact."""

from dataclasses import dataclass, field

import torch
from torch import nn

from candlecast.training.best import Best
from candlecast.training.budget import Budget, Counters
from candlecast.training.config import Recipe
from candlecast.training.log import Stopwatch
from candlecast.training.optimizer import make_optimizer
from candlecast.training.precision import Precision, make_precision
from candlecast.training.records import TrainingPlan


@dataclass(slots=True, kw_only=True)
class TrainingState:
    """The model, what moves it, and what was counted."""

    model: nn.Module
    device: torch.device
    precision: Precision
    optimizer: torch.optim.Optimizer
    counters: Counters = field(default_factory=Counters)
    best: Best = field(default_factory=Best)
    stopwatch: Stopwatch = field(default_factory=Stopwatch)


def new_state(model: nn.Module, recipe: Recipe) -> TrainingState:
    """Return the state before the first update, on the model's device; seeds torch's generators."""
    torch.manual_seed(recipe.seed)
    device = next(model.parameters()).device
    precision = make_precision(recipe.train.precision, device)
    return TrainingState(
        model=model, device=device, precision=precision, optimizer=make_optimizer(model, recipe)
    )


def make_plan(state: TrainingState, recipe: Recipe, budget: Budget, validation_windows: int) -> TrainingPlan:
    """Return what the observers are told before the first update."""
    return TrainingPlan(
        parameters=sum(parameter.numel() for parameter in state.model.parameters()),
        training_windows=budget.windows,
        validation_windows=validation_windows,
        micro_batch=recipe.accum.micro_batch,
        effective_batch=budget.effective_batch,
        total_updates=budget.total_updates,
        total_samples=budget.total_samples,
        peak_lr=recipe.train.scaled_peak_lr(budget.effective_batch),
        beta2=recipe.train.scaled_beta2(budget.effective_batch),
        precision=state.precision.name,
        device=str(state.device),
        resumed_update=state.counters.update,
        resumed_samples=state.counters.samples_seen,
    )
