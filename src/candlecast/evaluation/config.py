"""The `baselines` and `evaluate` sections of the parameters."""

from dataclasses import dataclass

from candlecast.params import require


@dataclass(frozen=True, kw_only=True, slots=True)
class BaselinesConfig:
    """Fitted baselines: what they see of a window, and how hard they are regularised."""

    summary_bars: tuple[int, ...]  # a window is summarised by its last bar and its means over these many bars
    ridge_alpha: float
    logistic_c: float
    boosting_iterations: int
    boosting_learning_rate: float

    def __post_init__(self) -> None:
        """Refuse values outside their range."""
        require(
            all(bars >= 2 for bars in self.summary_bars), "baselines.summary_bars: each must be at least 2"
        )
        for name in ("ridge_alpha", "logistic_c", "boosting_iterations", "boosting_learning_rate"):
            require(getattr(self, name) > 0, f"baselines.{name}: must be above 0")


@dataclass(frozen=True, kw_only=True, slots=True)
class EvaluateConfig:
    """How forecasts are made and scored."""

    batch: int  # windows in a forward pass; no metric depends on it
    reliability_bins: int

    def __post_init__(self) -> None:
        """Refuse values outside their range."""
        require(self.batch >= 1, "evaluate.batch: must be at least 1")
        require(self.reliability_bins >= 2, "evaluate.reliability_bins: must be at least 2")
