"""The `windows` section of the parameters."""

import datetime
from dataclasses import dataclass

from candlecast.params import require, require_at_most


@dataclass(frozen=True, kw_only=True, slots=True)
class WindowsConfig:
    """The shape of a window, what it forecasts, and where the dates are split."""

    length: int
    horizon: int
    test_start: datetime.date
    validation_days: int
    folds: int
    fold: int
    embargo: int
    stride: int
    clip: float

    def __post_init__(self) -> None:
        """Refuse sizes below one and a fold that does not exist."""
        for name in ("length", "horizon", "validation_days", "folds", "stride"):
            require(getattr(self, name) >= 1, f"windows.{name}: must be at least 1")
        require_at_most(self, "windows", length=65_536, folds=1000)
        require(self.embargo >= 0, "windows.embargo: must be 0 or more sessions")
        require(self.clip > 0, "windows.clip: must be above 0 standard deviations")
        require(
            0 <= self.fold < self.folds,
            f"windows.fold: {self.fold} does not exist; windows.folds is {self.folds}, "
            f"so 0 to {self.folds - 1}",
        )
