"""What happened, kept on the device until the log is flushed, then sent to the observers."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from math import isfinite

import torch
from torch import Tensor

from candlecast.training.budget import Counters
from candlecast.training.noise_scale import trace_and_signal
from candlecast.training.records import (
    NoiseEstimate,
    Observer,
    Outcome,
    TrainingEvent,
    TrainingPlan,
    TrainingSummary,
    UpdateRecord,
    ValidationRecord,
)
from candlecast.training.state import TrainingState


class NonFiniteUpdate(Exception):  # noqa: N818 - a message between the parts of the trainer, not an error
    """The gradient of the update after `update` applied ones was not finite."""

    def __init__(self, update: int) -> None:
        self.update = update


@dataclass(frozen=True, slots=True)
class _Pending:
    counters: Counters  # after the update
    values: Tensor  # [2] loss and gradient norm, on the device
    noise: Tensor | None  # [4] as NoiseMeter.result gives it
    lr: float


class TrainingLog:
    """Every update and validation of a training, in order.

    Updates are buffered and read from the device every `every` of them, so that between two flushes the
    host never waits for it. Only the first process speaks to the observers.
    """

    def __init__(self, state: TrainingState, observers: Sequence[Observer], windows: int, every: int) -> None:
        self._state = state
        self._observers = observers if state.processes.first else ()
        self._windows = windows  # in an epoch
        self._every = every
        self._pending: list[_Pending] = []
        self._flushed = (0.0, 0)  # seconds, windows
        self.saved_update = state.counters.update or None  # updates before the first are a checkpoint's

    @property
    def empty(self) -> bool:
        """Say whether everything noted has been read."""
        return not self._pending

    @contextmanager
    def reporting(self, plan: TrainingPlan) -> Iterator[None]:
        """Say what is about to happen, and on every way out how it ended."""
        self._flushed = (self._state.stopwatch.seconds(), self._state.counters.samples_seen)
        for observer in self._observers:
            observer.on_start(plan)
        try:
            yield
            self._end(self._state.outcome or "finished")
        except Exception:
            self._end("failed")
            raise
        except BaseException:  # a signal, as an exception
            self._end("interrupted")
            raise

    def update(self, loss: Tensor, grad_norm: Tensor, noise: Tensor | None, lr: float) -> None:
        """Note an applied update; flush when enough are noted."""
        values = torch.stack([loss.double(), grad_norm.double()])
        self._pending.append(_Pending(replace(self._state.counters), values, noise, lr))
        if len(self._pending) >= self._every:
            self.flush()

    def flush(self) -> None:
        """Read the noted updates from the device and send them.

        Raises
        ------
        NonFiniteUpdate
            One of them was not finite; those before it have been sent.
        """
        if not self._pending:
            return
        pending, self._pending = self._pending, []
        values, noises = self._read(pending)
        seconds, samples = self._state.stopwatch.seconds(), pending[-1].counters.samples_seen
        rate = (samples - self._flushed[1]) / max(seconds - self._flushed[0], 1e-9)
        self._flushed = (seconds, samples)
        finite = [isfinite(loss) and isfinite(grad_norm) for loss, grad_norm in values]
        good = finite.index(False) if False in finite else len(finite)
        records = [
            UpdateRecord(
                update=item.counters.update,
                micro_step=item.counters.micro_step,
                skipped_updates=item.counters.skipped_updates,
                samples_seen=item.counters.samples_seen,
                epoch=item.counters.samples_seen / self._windows,
                loss=loss,
                grad_norm=grad_norm,
                lr=item.lr,
                seconds=seconds,
                windows_per_second=rate,
                noise=self._noise(noise, grad_norm),
            )
            for item, (loss, grad_norm), noise in zip(pending[:good], values, noises, strict=False)
        ]
        self._state.updates += records
        for observer in self._observers if records else ():
            observer.on_updates(records)
        if good < len(finite):
            raise NonFiniteUpdate(pending[good].counters.update - 1)

    def validation(self, record: ValidationRecord) -> None:
        """Send a validation; flush before it."""
        self._state.validations.append(record)
        for observer in self._observers:
            observer.on_validation(record)

    def event(self, name: str, detail: Mapping[str, str | int | float]) -> None:
        """Send an event."""
        counters = self._state.counters
        event = TrainingEvent(
            name=name, update=counters.update, samples_seen=counters.samples_seen, detail=detail
        )
        for observer in self._observers:
            observer.on_event(event)

    def memory_ran_out(self, micro_batch: int, reason: str) -> None:
        """Say that an update is tried again with a smaller micro-batch."""
        self.event("memory_ran_out", {"micro_batch": micro_batch, "reason": reason})

    def _read(self, pending: Sequence[_Pending]) -> tuple[list[list[float]], list[list[float] | None]]:
        """Return losses and norms, and the noise sums where measured, each summed over the processes."""
        processes = self._state.processes
        values = torch.stack([item.values for item in pending])
        if processes.count > 1:  # each process knows its share of the loss; the norm is everyone's
            values[:, 0] = processes.sum(values[:, 0].clone())
        measured = [item.noise for item in pending if item.noise is not None]
        noises: Iterator[list[float]] = iter(())
        if measured:
            sums = torch.stack(measured)
            sums[:, :2] = processes.sum(sums[:, :2].clone())
            noises = iter(sums.tolist())
        return values.tolist(), [None if item.noise is None else next(noises) for item in pending]

    def _noise(self, sums: list[float] | None, grad_norm: float) -> NoiseEstimate | None:
        if sums is None:
            return None
        spread, share, weight, squared_weight = sums
        measured = trace_and_signal(spread, share, grad_norm, weight, squared_weight)
        if measured is None:
            return None
        self._state.noise.add(*measured)
        return self._state.noise.estimate()

    def _end(self, outcome: Outcome) -> None:
        state = self._state
        summary = TrainingSummary(
            outcome=outcome,
            update=state.counters.update,
            micro_step=state.counters.micro_step,
            skipped_updates=state.counters.skipped_updates,
            samples_seen=state.counters.samples_seen,
            seconds=state.stopwatch.seconds(),
            best_update=state.best.update,
            best_loss=None if state.best.update is None else state.best.loss,
            saved_update=self.saved_update,
        )
        for observer in self._observers:
            observer.on_end(summary)
