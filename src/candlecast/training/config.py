"""The `accum` and `train` sections of the parameters."""

from dataclasses import dataclass
from typing import Literal

from candlecast.params import require


@dataclass(frozen=True, kw_only=True, slots=True)
class AccumConfig:
    """Windows in a forward pass, and in an optimiser update: effective_batch = micro_batch x steps."""

    micro_batch: int
    steps: int | None
    effective_batch: int | None

    def __post_init__(self) -> None:
        """Refuse a contradiction between the three, or two of them left open."""
        require(self.micro_batch >= 1, "accum.micro_batch: must be at least 1")
        require(self.steps is None or self.steps >= 1, "accum.steps: must be at least 1, or null")
        require(
            self.effective_batch is None or self.effective_batch >= 1,
            "accum.effective_batch: must be at least 1, or null",
        )
        if self.steps is None:
            require(
                self.effective_batch is not None,
                "accum.steps: null needs accum.effective_batch; set one of the two",
            )
        elif self.effective_batch is not None:
            require(
                self.micro_batch * self.steps == self.effective_batch,
                f"accum.effective_batch: {self.effective_batch} is not accum.micro_batch {self.micro_batch} "
                f"x accum.steps {self.steps}; set accum.steps or accum.effective_batch to null",
            )

    @property
    def windows_per_update(self) -> int:
        """Return the effective batch."""
        if self.effective_batch is not None:
            return self.effective_batch
        assert self.steps is not None
        return self.micro_batch * self.steps


@dataclass(frozen=True, kw_only=True, slots=True)
class TrainConfig:
    """Budget, optimiser, precision and bookkeeping of one training."""

    epochs: int
    peak_lr: float
    final_lr_fraction: float
    warmup_fraction: float
    weight_decay: float
    beta1: float
    beta2: float
    clip_norm: float
    direction_weight: float
    precision: Literal["auto", "fp32", "bf16", "fp16"]
    validate_every: int
    log_every: int

    def __post_init__(self) -> None:
        """Refuse values outside their range."""
        for name in ("epochs", "validate_every", "log_every"):
            require(getattr(self, name) >= 1, f"train.{name}: must be at least 1")
        for name in ("peak_lr", "clip_norm"):
            require(getattr(self, name) > 0, f"train.{name}: must be above 0")
        for name in ("final_lr_fraction", "warmup_fraction"):
            require(0 <= getattr(self, name) <= 1, f"train.{name}: must be between 0 and 1")
        for name in ("beta1", "beta2"):
            require(0 <= getattr(self, name) < 1, f"train.{name}: must be at least 0 and below 1")
        for name in ("weight_decay", "direction_weight"):
            require(getattr(self, name) >= 0, f"train.{name}: must be 0 or more")
