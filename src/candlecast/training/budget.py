"""How much a training may spend, and how far along it is."""

import time
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Literal

from candlecast.training.config import TrainConfig


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


@dataclass(slots=True)
class Counters:
    """Everything that is counted. A skipped update has consumed its windows and changed no weight."""

    micro_step: int = 0  # forward and backward passes
    update: int = 0  # applied optimiser updates
    skipped_updates: int = 0
    samples_seen: int = 0  # windows consumed, those of skipped updates included

    def count(self, *, micro_steps: int, windows: int, applied: bool) -> None:
        """Count one effective batch."""
        self.micro_step += micro_steps
        self.samples_seen += windows
        self.update += applied
        self.skipped_updates += not applied

    def restore(self, earlier: "Counters") -> None:
        """Go back to where they stood."""
        for field in fields(self):
            setattr(self, field.name, getattr(earlier, field.name))


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """One of epochs, updates, samples or seconds, over epochs of `windows` training windows.

    An epoch is ceil(windows / effective_batch) updates, the last of them short where it does not divide.
    """

    windows: int
    effective_batch: int
    limit: Literal["updates", "samples", "seconds"]
    total_updates: int | None  # None: as many as the seconds carry
    total_samples: int | None
    seconds: float | None

    @classmethod
    def of(cls, config: TrainConfig, windows: int, effective_batch: int) -> "Budget":
        """Work out both totals, which only a budget in seconds leaves open."""
        per_epoch = -(-windows // effective_batch)
        limit: Literal["updates", "samples", "seconds"] = "seconds"
        updates = samples = None
        if config.updates is not None:
            limit, updates = "updates", config.updates
            epochs, rest = divmod(updates, per_epoch)
            samples = epochs * windows + min(rest * effective_batch, windows)
        elif config.epochs is not None or config.samples is not None:
            limit, samples = "samples", config.samples if config.epochs is None else config.epochs * windows
            assert samples is not None
            epochs, rest = divmod(samples, windows)
            updates = epochs * per_epoch + -(-rest // effective_batch)
        return cls(
            windows=windows,
            effective_batch=effective_batch,
            limit=limit,
            total_updates=updates,
            total_samples=samples,
            seconds=config.seconds,
        )

    def progress(self, update: int, seconds: float) -> float:
        """Return the share of the budget, in [0, 1], that is spent once the next update is applied.

        `update` is the number applied so far. Only a budget in seconds reads `seconds`.
        """
        if self.total_updates is not None:
            return (update + 1) / self.total_updates
        assert self.seconds is not None
        return min(seconds / self.seconds, 1.0)

    def left(self, counters: Counters) -> int | None:
        """Return how many windows may still be consumed; None when windows are not what is limited."""
        if self.limit != "samples":
            return None
        assert self.total_samples is not None
        return self.total_samples - counters.samples_seen

    def spent(self, counters: Counters, seconds: float) -> bool:
        """Say whether training is over."""
        if self.limit == "updates":
            return counters.update >= (self.total_updates or 0)
        if self.limit == "samples":
            return counters.samples_seen >= (self.total_samples or 0)
        return seconds >= (self.seconds or 0.0)

    @staticmethod
    def crossed(interval: int, counters: Counters, windows: int) -> bool:
        """Say whether the last `windows` windows passed a multiple of `interval`."""
        before = counters.samples_seen - windows
        return counters.samples_seen // interval > before // interval
