"""The `accum` and `train` sections of the parameters."""

from dataclasses import dataclass
from typing import Final, Literal

from candlecast.errors import ParamsError
from candlecast.params import require, require_at_most

_MOST_WINDOWS: Final = 1_000_000  # in an update, all of which memory holds


@dataclass(frozen=True, kw_only=True, slots=True)
class AccumConfig:
    """Windows in a forward pass, and in an optimiser update: effective_batch = micro_batch x steps.

    A micro-batch of `auto` is chosen by what memory carries, before training; the effective batch is not.
    """

    micro_batch: int | Literal["auto"]
    steps: int | None
    effective_batch: int | None

    def __post_init__(self) -> None:
        """Refuse a contradiction between the three, or two of them left open."""
        if self.micro_batch == "auto":
            require(
                self.steps is None,
                f"accum.steps: {self.steps} contradicts accum.micro_batch auto, from which the steps follow; "
                "set accum.steps to null",
            )
            require(
                self.effective_batch is not None,
                "accum.effective_batch: null leaves accum.micro_batch auto nothing to divide; "
                "give the windows of an update",
            )
        else:
            require(self.micro_batch >= 1, "accum.micro_batch: must be at least 1, or auto")
        require(self.steps is None or self.steps >= 1, "accum.steps: must be at least 1, or null")
        require(
            self.effective_batch is None or self.effective_batch >= 1,
            "accum.effective_batch: must be at least 1, or null",
        )
        require_at_most(self, "accum", micro_batch=_MOST_WINDOWS, effective_batch=_MOST_WINDOWS)
        if self.steps is None:
            require(
                self.effective_batch is not None,
                "accum.steps: null needs accum.effective_batch; set one of the two",
            )
        elif self.effective_batch is not None:
            require(
                self.windows_per_pass * self.steps == self.effective_batch,
                f"accum.effective_batch: {self.effective_batch} is not accum.micro_batch {self.micro_batch} "
                f"x accum.steps {self.steps}; set accum.steps or accum.effective_batch to null",
            )
        require(
            self.windows_per_update <= _MOST_WINDOWS,
            f"accum.steps: {self.steps} x accum.micro_batch {self.micro_batch} is more than {_MOST_WINDOWS} "
            "windows in an update",
        )

    @property
    def windows_per_update(self) -> int:
        """Return the effective batch."""
        if self.effective_batch is not None:
            return self.effective_batch
        assert self.steps is not None
        return self.windows_per_pass * self.steps

    @property
    def windows_per_pass(self) -> int:
        """Return the micro-batch, or raise `ParamsError` where it is still to be chosen."""
        if self.micro_batch == "auto":
            raise ParamsError(
                "accum.micro_batch: auto is still to be chosen; see training.auto_micro_batch.settle"
            )
        return self.micro_batch


@dataclass(frozen=True, kw_only=True, slots=True)
class TrainConfig:
    """Budget, optimiser, precision and bookkeeping of one training.

    Whatever recurs is counted in windows seen or applied updates, never in micro-steps, so that runs of
    different effective batch stay comparable.
    """

    epochs: int | None
    updates: int | None
    samples: int | None
    seconds: float | None
    peak_lr: float
    final_lr_fraction: float
    warmup_fraction: float
    lr_scaling: Literal["none", "sqrt", "linear"]
    reference_batch: int
    weight_decay: float
    beta1: float
    beta2: float
    beta2_half_life: int | None
    clip_norm: float
    direction_weight: float
    huber_delta: float
    precision: Literal["auto", "fp32", "bf16", "fp16"]
    ema_half_life: int | None
    validate_every: int
    patience: int | None
    log_every: int
    noise_every: int | None
    noise_probe: int
    checkpoint_seconds: float
    fused_optimizer: bool
    compile: bool
    cudnn_benchmark: bool
    tf32: bool
    processes: int

    def __post_init__(self) -> None:
        """Refuse values outside their range, and any number of budgets but one."""
        budgets = ("epochs", "updates", "samples", "seconds")
        given = [name for name in budgets if getattr(self, name) is not None]
        require(
            len(given) == 1,
            f"train.{given[-1] if given else 'epochs'}: give exactly one of {', '.join(budgets)} "
            f"and set the others to null; given: {', '.join(given) or 'none'}",
        )
        require(
            self.seconds is None or self.processes == 1,
            "train.seconds: several processes have several clocks; give another budget or train.processes 1",
        )
        positive = ("epochs", "updates", "samples", "reference_batch", "beta2_half_life", "ema_half_life")
        for name in (*positive, "validate_every", "patience", "log_every", "noise_every", "processes"):
            require(getattr(self, name) is None or getattr(self, name) >= 1, f"train.{name}: at least 1")
        require_at_most(self, "train", processes=1024)
        for name in ("seconds", "peak_lr", "clip_norm", "huber_delta"):
            require(getattr(self, name) is None or getattr(self, name) > 0, f"train.{name}: must be above 0")
        for name in ("final_lr_fraction", "warmup_fraction"):
            require(0 <= getattr(self, name) <= 1, f"train.{name}: must be between 0 and 1")
        for name in ("beta1", "beta2"):
            require(0 <= getattr(self, name) < 1, f"train.{name}: must be at least 0 and below 1")
        for name in ("weight_decay", "direction_weight", "noise_probe", "checkpoint_seconds"):
            require(getattr(self, name) >= 0, f"train.{name}: must be 0 or more")

    def scaled_peak_lr(self, effective_batch: int) -> float:
        """Return peak_lr under lr_scaling; a common power of the batch relative to reference_batch."""
        power = {"none": 0.0, "sqrt": 0.5, "linear": 1.0}[self.lr_scaling]
        scaled: float = self.peak_lr * (effective_batch / self.reference_batch) ** power
        return scaled

    def scaled_beta2(self, effective_batch: int) -> float:
        """Return Adam's second-moment decay per update: beta2, or what beta2_half_life windows make it.

        At a given half-life in windows, beta2' = beta2^(B'/B) (Marek et al. 2025, arXiv 2507.07101).
        """
        if self.beta2_half_life is None:
            return self.beta2
        decay: float = 0.5 ** (effective_batch / self.beta2_half_life)
        return decay


@dataclass(frozen=True, kw_only=True, slots=True)
class Recipe:
    """All that decides a training beside the data and the initial weights."""

    train: TrainConfig
    accum: AccumConfig
    seed: int
