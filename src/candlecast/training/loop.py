"""The training loop, top to bottom, in updates."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from candlecast.errors import TrainingError
from candlecast.training.accumulate import (
    accumulate_gradients,
    apply_gradients,
    clip_gradients,
    micro_batches,
    total_weight,
)
from candlecast.training.budget import Budget, Counters
from candlecast.training.config import Recipe
from candlecast.training.log import TrainingLog
from candlecast.training.loss import make_loss_sum
from candlecast.training.optimizer import set_learning_rate
from candlecast.training.records import Observer, UpdateRecord, ValidationRecord
from candlecast.training.schedule import learning_rate
from candlecast.training.state import TrainingState, make_plan, new_state
from candlecast.training.stream import training_stream
from candlecast.training.validation import validate
from candlecast.windows.dataset import WindowDataset


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingResult:
    """What a training leaves; the model itself is left with its last weights, not the best."""

    best_state: dict[str, Tensor]
    updates: list[UpdateRecord]
    validations: list[ValidationRecord]
    counters: Counters


def train(
    model: nn.Module,
    train_set: WindowDataset,
    validation_set: WindowDataset,
    recipe: Recipe,
    observers: Sequence[Observer] = (),
) -> TrainingResult:
    """Train `model` on the device it is on; return the weights of its best validation.

    The result is a function of the initial weights, the data and the recipe alone.

    Raises
    ------
    TrainingError
        The gradient is not finite in float32 or bfloat16; no weight has been touched by it.
    """
    config, size = recipe.train, recipe.accum.micro_batch
    budget = Budget.of(config, len(train_set), recipe.accum.windows_per_update)
    state = new_state(model, recipe)
    plan = make_plan(state, recipe, budget, len(validation_set))
    optimizer, scaler, counters = state.optimizer, state.precision.scaler, state.counters
    loss_sum = make_loss_sum(model, config, state.precision)
    log = TrainingLog(observers, len(train_set), config.log_every, state.stopwatch)
    log.start(plan)
    model.train()
    for batch in training_stream(train_set, recipe.seed, budget, counters):
        progress = budget.progress(counters.update, state.stopwatch.seconds())
        lr = learning_rate(progress, plan.peak_lr, config.final_lr_fraction, config.warmup_fraction)
        set_learning_rate(optimizer, lr)
        slices = micro_batches(batch.to(state.device), size)
        loss = accumulate_gradients(loss_sum, slices, total_weight(slices), scaler)  # lines 1 to 4
        grad_norm = clip_gradients(optimizer, scaler, config.clip_norm)  # line 5
        finite = gradient_is_finite(grad_norm, state)
        apply_gradients(optimizer, scaler, finite=finite)  # line 6
        counters.count(micro_steps=len(slices), windows=len(batch), applied=finite)
        log.effective_batch(counters, loss, grad_norm, lr, applied=finite)
        over = budget.spent(counters, state.stopwatch.seconds())
        if over or budget.crossed(config.validate_every, counters, len(batch)):
            log.validation(validate(state, model, validation_set, config, size))
            over = over or state.best.stale(counters, config.patience)
        if over:
            break
    log.end("finished", counters, state.best)
    return TrainingResult(
        best_state=state.best.state, updates=log.updates, validations=log.validations, counters=counters
    )


def gradient_is_finite(grad_norm: Tensor, state: TrainingState) -> bool:
    """Say whether the update may be applied; False only in float16, where the scale is then lowered."""
    finite = bool(torch.isfinite(grad_norm))
    if not finite and not state.precision.scaler.is_enabled():
        raise TrainingError(
            f"update {state.counters.update + 1}: the gradient's norm is not finite; lower train.peak_lr"
        )
    return finite
