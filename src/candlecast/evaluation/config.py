"""The `baselines` and `evaluate` sections of the parameters."""

from dataclasses import dataclass

from candlecast.params import require, require_at_most


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
        require_at_most(self, "baselines", boosting_iterations=100_000)


@dataclass(frozen=True, kw_only=True, slots=True)
class EvaluateConfig:
    """How forecasts are made and scored."""

    batch: int  # windows in a forward pass; no metric depends on it
    reliability_bins: int
    bootstrap_replications: int  # resamples of whole days behind every interval
    confidence: float  # of the intervals
    costs_bp: tuple[float, ...]  # of traded value, at which the economic view is shown
    calibration_simulations: int  # markets without skill on which the tests are tried; 0: none

    def __post_init__(self) -> None:
        """Refuse values outside their range."""
        require(self.batch >= 1, "evaluate.batch: must be at least 1")
        require(self.reliability_bins >= 2, "evaluate.reliability_bins: must be at least 2")
        require(self.bootstrap_replications >= 100, "evaluate.bootstrap_replications: must be at least 100")
        require(0.5 <= self.confidence < 1, "evaluate.confidence: must be at least 0.5 and below 1")
        require(
            len(self.costs_bp) > 0 and all(cost >= 0 for cost in self.costs_bp),
            "evaluate.costs_bp: needs at least one cost, each 0 or more basis points",
        )
        require(self.calibration_simulations >= 0, "evaluate.calibration_simulations: must be 0 or more")
        require_at_most(
            self,
            "evaluate",
            batch=65_536,
            reliability_bins=1000,
            bootstrap_replications=1_000_000,
            calibration_simulations=100_000,
        )
