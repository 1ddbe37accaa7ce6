"""The training loop, top to bottom, in updates."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Self

from torch import Tensor, nn

from candlecast.training.accumulate import (
    accumulate_gradients,
    apply_gradients,
    clip_gradients,
    micro_batches,
    total_weight,
)
from candlecast.training.boundary import Boundary
from candlecast.training.budget import Budget, Counters
from candlecast.training.checkpoint import Checkpoints
from candlecast.training.config import Recipe
from candlecast.training.execution import make_execution
from candlecast.training.finite import FiniteGuard
from candlecast.training.log import TrainingLog
from candlecast.training.loss import make_loss_sum
from candlecast.training.noise_scale import NoiseMeter
from candlecast.training.optimizer import set_learning_rate
from candlecast.training.out_of_memory import retry_smaller
from candlecast.training.records import Observer, Outcome, UpdateRecord, ValidationRecord
from candlecast.training.schedule import learning_rate
from candlecast.training.state import TrainingState, make_plan, new_state
from candlecast.training.stream import training_stream
from candlecast.training.validation import validate
from candlecast.windows.batch import Batch
from candlecast.windows.dataset import WindowDataset


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingResult:
    """What a training leaves; the model itself is left with its last weights, not the best."""

    best_state: dict[str, Tensor]  # a state_dict, on the training's device
    updates: list[UpdateRecord]
    validations: list[ValidationRecord]
    counters: Counters
    outcome: Outcome
    micro_batch: int  # smaller than accum.micro_batch if memory ran out
    seconds: float

    @classmethod
    def of(cls, state: TrainingState) -> Self:
        """Return what there is to say of a training that is over."""
        return cls(
            best_state=state.best.state,
            updates=state.updates,
            validations=state.validations,
            counters=state.counters,
            outcome=state.outcome or "finished",
            micro_batch=state.micro_batch,
            seconds=state.stopwatch.seconds(),
        )


def train(
    model: nn.Module,
    train_set: WindowDataset,
    validation_set: WindowDataset,
    recipe: Recipe,
    observers: Sequence[Observer] = (),
    checkpoints: Checkpoints | None = None,
    memory_plan: Callable[[], str] = lambda: "what would fit: candlecast plan",
) -> TrainingResult:
    """Train `model` on the device it is on; return the weights of its best validation.

    The result is a function of the initial weights, the data and the recipe alone. With `checkpoints` it
    continues from the last one and ends with the same bits; the caller removes them when all is written.
    Where memory runs out the micro-batch is halved and the same update tried again; `memory_plan` is asked
    for what to say when not even one window fits.

    Raises
    ------
    TrainingError
        A gradient is not finite outside float16, or memory does not carry one window.
    """
    config = recipe.train
    budget = Budget.of(config, len(train_set), recipe.accum.windows_per_update)
    state = new_state(model, recipe)
    optimizer, scaler, counters = state.optimizer, state.precision.scaler, state.counters
    if checkpoints is not None:
        checkpoints.restore(state)
    plan = make_plan(state, recipe, budget, len(validation_set))
    execution = make_execution(state, config)
    loss_sum = make_loss_sum(execution.forward, config, state.precision)
    meter = NoiseMeter(model.parameters(), config.noise_every, config.noise_probe)
    log = TrainingLog(state, observers, len(train_set), config.log_every)
    score = partial(validate, state, execution.evaluate, validation_set, config)
    boundary = Boundary(state, log, config, score, checkpoints)
    stream = partial(training_stream, train_set, recipe.seed, budget, state)
    guard = FiniteGuard(state, recipe, lambda: next(stream()), train_set.names, boundary.save)

    def accumulate(batch: Batch, micro_batch: int) -> tuple[Tensor, int]:
        n, own = total_weight(batch), state.processes.share(batch)  # line 1
        slices = micro_batches(own, meter.micro_batch(micro_batch, len(own), counters.update))
        watched = meter.watch(loss_sum, counters.update)
        return accumulate_gradients(watched, slices, n, scaler, execution.context), len(slices)

    model.train()
    with log.reporting(plan), boundary, guard:
        for batch in stream():
            guard.begin()
            progress = budget.progress(counters.update, state.stopwatch.seconds())
            lr = learning_rate(progress, plan.peak_lr, config.final_lr_fraction, config.warmup_fraction)
            set_learning_rate(optimizer, lr)
            (loss, micro_steps), state.micro_batch = retry_smaller(
                partial(accumulate, batch), state.micro_batch, guard.undo, log.memory_ran_out, memory_plan
            )  # lines 1 to 4
            noise = meter.result(batch.weight, scaler.get_scale())
            grad_norm = clip_gradients(optimizer, scaler, config.clip_norm)  # line 5
            finite = guard.allows(grad_norm)
            apply_gradients(optimizer, scaler, finite=finite)  # line 6
            counters.count(micro_steps=micro_steps, windows=len(batch), applied=finite)
            if finite:
                state.average.update(len(batch))
                log.update(loss, grad_norm, noise, lr)
            else:
                log.event("update_skipped", {"skipped_updates": counters.skipped_updates})
            boundary.reached(len(batch), over=budget.spent(counters, state.stopwatch.seconds()))
    return TrainingResult.of(state)
