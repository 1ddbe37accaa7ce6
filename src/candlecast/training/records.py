"""What a training tells those who watch it: progress bar, history files, MLflow."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

Outcome = Literal["finished", "stopped_early", "interrupted", "failed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingPlan:
    """What is about to happen, said once before the first update."""

    parameters: int
    training_windows: int
    validation_windows: int
    micro_batch: int
    effective_batch: int
    total_updates: int | None  # None: the budget is in seconds
    total_samples: int | None
    peak_lr: float  # after train.lr_scaling
    beta2: float  # after train.beta2_half_life
    precision: str
    device: str
    processes: int = 1
    resumed_update: int = 0  # updates a checkpoint brought along
    resumed_samples: int = 0
    # Their records: what a killed process had said of them may not have arrived everywhere.
    earlier_updates: "tuple[UpdateRecord, ...]" = ()
    earlier_validations: "tuple[ValidationRecord, ...]" = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class NoiseEstimate:
    """The gradient noise scale so far, in windows, with a 90 % interval.

    `scale` is None while the signal estimate is not positive: noise-dominated, any batch is too small to
    say more. `high` is infinite when the signal's interval reaches zero.
    """

    trace: float  # of the covariance of one window's gradient
    signal: float  # squared norm of the true gradient; may be negative, never clamped
    scale: float | None
    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class UpdateRecord:
    """One applied update. Counters are totals after it."""

    update: int
    micro_step: int
    skipped_updates: int
    samples_seen: int
    epoch: float  # samples_seen / training windows
    loss: float  # mean over the effective batch, before the update
    grad_norm: float  # L2, before clipping
    lr: float
    seconds: float  # of training so far, resumed time included
    windows_per_second: float  # since the last flush
    noise: NoiseEstimate | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ValidationRecord:
    """Scores on the whole validation set, on an update boundary."""

    update: int
    samples_seen: int
    loss: float
    return_rmse_error: float  # standard deviations of the training target
    directional_accuracy: float
    best: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingEvent:
    """Something out of the ordinary: a skipped update, a smaller micro-batch, a failed checkpoint."""

    name: str
    update: int
    samples_seen: int
    detail: Mapping[str, str | int | float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingSummary:
    """How it ended, said once, whatever the way out."""

    outcome: Outcome
    update: int
    micro_step: int
    skipped_updates: int
    samples_seen: int
    seconds: float
    best_update: int | None
    best_loss: float | None
    saved_update: int | None = None  # of the newest checkpoint, from which the training can go on


class Observer(Protocol):
    """Watches a training. Called on update boundaries only, and never between two flushes of the log."""

    def on_start(self, plan: TrainingPlan) -> None:
        """Training is about to begin, or to continue from a checkpoint."""

    def on_updates(self, records: Sequence[UpdateRecord]) -> None:
        """The log was flushed: the updates since the last flush, oldest first."""

    def on_validation(self, record: ValidationRecord) -> None:
        """The validation set was scored; every update before it has been sent."""

    def on_event(self, event: TrainingEvent) -> None:
        """Something out of the ordinary happened."""

    def on_end(self, summary: TrainingSummary) -> None:
        """Training is over; called on every way out but a killed process."""
