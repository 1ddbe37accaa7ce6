"""The `features` section of the parameters."""

from dataclasses import dataclass
from typing import Literal

from candlecast.params import require

Family = Literal["trend", "momentum", "volatility", "volume"]


@dataclass(frozen=True, kw_only=True, slots=True)
class FeaturesConfig:
    """Which indicators are built, and how long each history settles before its first window."""

    families: tuple[Family, ...]
    warmup_bars: int  # left out at the start of each history, while recursive averages forget their seed

    def __post_init__(self) -> None:
        """Refuse an empty or repeated choice of families."""
        require(len(self.families) > 0, "features.families: empty; name at least one family")
        require(len(set(self.families)) == len(self.families), "features.families: one is named twice")
        require(self.warmup_bars >= 0, "features.warmup_bars: must be 0 or more bars")
