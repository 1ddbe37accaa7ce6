"""What happened, kept on the device until the log is flushed, then sent to the observers."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from candlecast.training.best import Best
from candlecast.training.budget import Counters
from candlecast.training.records import (
    Observer,
    Outcome,
    TrainingEvent,
    TrainingPlan,
    TrainingSummary,
    UpdateRecord,
    ValidationRecord,
)


class Stopwatch:
    """Seconds of training, those before a resume included."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self.restart(0.0)

    def restart(self, earlier: float) -> None:
        """Continue from `earlier` seconds."""
        self._start = self._clock() - earlier

    def seconds(self) -> float:
        """Return the seconds so far."""
        return self._clock() - self._start


@dataclass(frozen=True, slots=True)
class _Pending:
    counters: Counters
    values: Tensor  # [2] loss and gradient norm, on the device
    lr: float


class TrainingLog:
    """Every update and validation of a training, in order.

    Updates are buffered and read from the device every `every` of them, so that between two flushes the
    host never waits for it.
    """

    def __init__(self, observers: Sequence[Observer], windows: int, every: int, stopwatch: Stopwatch) -> None:
        self.updates: list[UpdateRecord] = []
        self.validations: list[ValidationRecord] = []
        self._observers = observers
        self._windows = windows  # in an epoch
        self._every = every
        self._stopwatch = stopwatch
        self._pending: list[_Pending] = []
        self._flushed = (stopwatch.seconds(), 0)

    def start(self, plan: TrainingPlan) -> None:
        """Say what is about to happen."""
        for observer in self._observers:
            observer.on_start(plan)

    def effective_batch(
        self, counters: Counters, loss: Tensor, grad_norm: Tensor, lr: float, *, applied: bool
    ) -> None:
        """Note an update, or say that it was skipped; flush when enough are noted."""
        if not applied:
            self.event("update_skipped", counters, {"skipped_updates": counters.skipped_updates})
            return
        values = torch.stack([loss.double(), grad_norm.double()])
        self._pending.append(_Pending(replace(counters), values, lr))
        if len(self._pending) >= self._every:
            self.flush()

    def flush(self) -> None:
        """Read the noted updates from the device and send them."""
        if not self._pending:
            return
        values = torch.stack([pending.values for pending in self._pending]).tolist()
        seconds, samples = self._stopwatch.seconds(), self._pending[-1].counters.samples_seen
        rate = (samples - self._flushed[1]) / max(seconds - self._flushed[0], 1e-9)
        records = [
            UpdateRecord(
                update=pending.counters.update,
                micro_step=pending.counters.micro_step,
                skipped_updates=pending.counters.skipped_updates,
                samples_seen=pending.counters.samples_seen,
                epoch=pending.counters.samples_seen / self._windows,
                loss=loss,
                grad_norm=grad_norm,
                lr=pending.lr,
                seconds=seconds,
                windows_per_second=rate,
            )
            for pending, (loss, grad_norm) in zip(self._pending, values, strict=True)
        ]
        self.updates += records
        self._pending.clear()
        self._flushed = (seconds, samples)
        for observer in self._observers:
            observer.on_updates(records)

    def validation(self, record: ValidationRecord) -> None:
        """Send a validation, after the updates before it."""
        self.flush()
        self.validations.append(record)
        for observer in self._observers:
            observer.on_validation(record)

    def event(self, name: str, counters: Counters, detail: Mapping[str, str | int | float]) -> None:
        """Send an event."""
        event = TrainingEvent(
            name=name, update=counters.update, samples_seen=counters.samples_seen, detail=detail
        )
        for observer in self._observers:
            observer.on_event(event)

    def end(self, outcome: Outcome, counters: Counters, best: Best) -> None:
        """Send what is still noted, and how it ended."""
        self.flush()
        summary = TrainingSummary(
            outcome=outcome,
            update=counters.update,
            micro_step=counters.micro_step,
            skipped_updates=counters.skipped_updates,
            samples_seen=counters.samples_seen,
            seconds=self._stopwatch.seconds(),
            best_update=best.update,
            best_loss=None if best.update is None else best.loss,
        )
        for observer in self._observers:
            observer.on_end(summary)
