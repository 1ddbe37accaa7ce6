"""The `data` section of the parameters."""

import datetime
from dataclasses import dataclass
from typing import Final, Literal

from candlecast.params import require

_MOST_BARS: Final = 50_000_000  # of a synthetic market, several gigabytes
_LONGEST: Final = 10_000  # sessions, forty years


@dataclass(frozen=True, kw_only=True, slots=True)
class UniverseConfig:
    """How the tickers came to be chosen, for the manifest and the report."""

    chosen: str | None  # by what rule; null: the source's own words
    as_of: datetime.date | None  # when; null: not recorded


@dataclass(frozen=True, kw_only=True, slots=True)
class ChecksConfig:
    """What happens where a fault is found in a history, and from where on it is one.

    error stops the stage, drop_row leaves the bars out, drop_ticker leaves the whole history out, flag keeps
    them; each is counted in the manifest. A check offers only what is possible: a null price cannot be kept.
    """

    unsorted_dates: Literal["error", "drop_ticker", "flag"]
    repeated_row: Literal["error", "drop_row", "drop_ticker"]
    conflicting_rows: Literal["error", "drop_row", "drop_ticker"]
    missing_price: Literal["error", "drop_row", "drop_ticker"]
    non_positive_price: Literal["error", "drop_row", "drop_ticker"]
    missing_volume: Literal["error", "drop_row", "drop_ticker"]
    price_order: Literal["error", "drop_row", "drop_ticker", "flag"]
    unit_jump: Literal["error", "drop_row", "drop_ticker", "flag"]
    unadjusted_split: Literal["error", "drop_ticker", "flag"]
    zero_volume: Literal["error", "drop_row", "drop_ticker", "flag"]
    flat_prices: Literal["error", "drop_row", "drop_ticker", "flag"]
    outside_calendar: Literal["error", "drop_row", "drop_ticker", "flag"]
    missing_sessions: Literal["error", "drop_ticker", "flag"]
    stale_tail: Literal["error", "drop_ticker", "flag"]
    too_short: Literal["error", "drop_ticker"]
    order_tolerance: float
    unit_tolerance: float
    split_tolerance: float
    run_length: int

    def __post_init__(self) -> None:
        """Refuse tolerances that find everything or nothing."""
        for name in ("order_tolerance", "unit_tolerance", "split_tolerance"):
            require(0 <= getattr(self, name) < 0.5, f"data.checks.{name}: must be at least 0 and below 0.5")
        require(self.run_length >= 2, "data.checks.run_length: must be at least 2 bars")
        require(self.run_length <= _LONGEST, f"data.checks.run_length: must be at most {_LONGEST} bars")


@dataclass(frozen=True, kw_only=True, slots=True)
class YahooConfig:
    """How patiently Yahoo is asked."""

    requests_per_minute: int
    attempts: int
    timeout: float

    def __post_init__(self) -> None:
        """Refuse a pace at which Yahoo delays, blocks or returns bad data."""
        require(
            1 <= self.requests_per_minute < 60,
            "data.yahoo.requests_per_minute: must be at least 1 and below 60, where Yahoo begins to refuse",
        )
        require(self.attempts >= 1, "data.yahoo.attempts: must be at least 1")
        require(self.timeout > 0, "data.yahoo.timeout: must be above 0 seconds")


@dataclass(frozen=True, kw_only=True, slots=True)
class FilesConfig:
    """What a file does not say of itself; null where it does."""

    encoding: str | None
    delimiter: str | None
    decimal: Literal[".", ","] | None
    date_format: str | None
    timezone: str | None
    columns: tuple[str, ...] | None
    ticker: str | None
    date: str | None
    open: str | None
    high: str | None
    low: str | None
    close: str | None
    adjusted_close: str | None
    volume: str | None

    def __post_init__(self) -> None:
        """Refuse a delimiter of more than one character."""
        require(
            self.delimiter is None or len(self.delimiter) == 1,
            "data.files.delimiter: must be one character",
        )


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
        require(
            self.tickers * self.bars <= _MOST_BARS,
            f"data.synthetic.bars: {self.tickers} tickers of {self.bars} bars are more than {_MOST_BARS} "
            f"bars in all; lower data.synthetic.tickers or data.synthetic.bars",
        )
        require(self.seed >= 0, "data.synthetic.seed: must be 0 or more")
        require(0 <= self.signal < 1, "data.synthetic.signal: must be at least 0 and below 1")


@dataclass(frozen=True, kw_only=True, slots=True)
class DataConfig:
    """Which bars, from where, between which dates (both inclusive), and what they must pass."""

    source: Literal["sample", "yahoo", "files", "synthetic"]
    tickers: tuple[str, ...]
    allow_missing: bool
    start: datetime.date
    end: datetime.date
    path: str | None
    calendar: str | None
    min_bars: int
    max_gap: int
    universe: UniverseConfig
    checks: ChecksConfig
    yahoo: YahooConfig
    files: FilesConfig
    synthetic: SyntheticConfig

    def __post_init__(self) -> None:
        """Refuse an unnamed universe, reversed dates, and a files source without a path."""
        require(
            len(self.tickers) > 0 or self.source != "yahoo",
            "data.tickers: empty; yahoo needs each ticker named",
        )
        repeated = sorted({name for name in self.tickers if self.tickers.count(name) > 1})
        require(not repeated, f"data.tickers: {', '.join(repeated)} named twice")
        unusable = [name for name in self.tickers if not name.strip() or not name.isprintable()]
        require(not unusable, f"data.tickers: {unusable[:1]} is no ticker")
        require(self.start < self.end, f"data.start: {self.start} is not before data.end {self.end}")
        require(
            self.source != "files" or self.path is not None, "data.path: needed when data.source is files"
        )
        require(self.min_bars >= 1, "data.min_bars: must be at least 1")
        require(self.max_gap >= 0, "data.max_gap: must be 0 or more sessions")
        require(self.max_gap <= _LONGEST, f"data.max_gap: must be at most {_LONGEST} sessions")
