"""The `data` section of the parameters."""

import datetime
from dataclasses import dataclass
from typing import Literal

from candlecast.params import require


@dataclass(frozen=True, kw_only=True, slots=True)
class SyntheticConfig:
    """A market made of random numbers, with as much predictability planted as is asked for."""

    tickers: int
    bars: int
    signal: float  # correlation of the planted signal with the next return; 0: a random walk
    seed: int

    def __post_init__(self) -> None:
        """Refuse sizes and strengths that make no market."""
        require(self.tickers > 0, "data.synthetic.tickers: must be at least 1")
        require(self.bars > 0, "data.synthetic.bars: must be at least 1")
        require(0 <= self.signal < 1, "data.synthetic.signal: must be at least 0 and below 1")


@dataclass(frozen=True, kw_only=True, slots=True)
class DataConfig:
    """Which bars, from where, between which dates (both inclusive)."""

    source: Literal["sample", "yahoo", "files", "synthetic"]
    tickers: tuple[str, ...]
    start: datetime.date
    end: datetime.date
    path: str | None
    min_bars: int
    max_gap: int
    synthetic: SyntheticConfig

    def __post_init__(self) -> None:
        """Refuse an unnamed universe, reversed dates, and a files source without a path."""
        require(
            len(self.tickers) > 0 or self.source != "yahoo",
            "data.tickers: empty; yahoo needs each ticker named",
        )
        repeated = sorted({name for name in self.tickers if self.tickers.count(name) > 1})
        require(not repeated, f"data.tickers: {', '.join(repeated)} named twice")
        require(self.start < self.end, f"data.start: {self.start} is not before data.end {self.end}")
        require(
            self.source != "files" or self.path is not None, "data.path: needed when data.source is files"
        )
        require(self.min_bars >= 1, "data.min_bars: must be at least 1")
        require(self.max_gap >= 0, "data.max_gap: must be 0 or more sessions")
