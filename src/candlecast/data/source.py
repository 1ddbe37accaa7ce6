"""What every source of bars has in common."""

import datetime
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Protocol

import polars as pl

from candlecast.errors import NoBarsError

# One ticker's daily bars as the vendor gives them. Prices in the quote currency, volume in shares;
# `adjusted_close` is `close` with later splits and dividends taken out of it.
RAW_BARS: Final = pl.Schema(
    {
        "date": pl.Date(),
        "open": pl.Float64(),
        "high": pl.Float64(),
        "low": pl.Float64(),
        "close": pl.Float64(),
        "adjusted_close": pl.Float64(),
        "volume": pl.Float64(),
    }
)
PRICES: Final = ("open", "high", "low", "close", "adjusted_close")


@dataclass(frozen=True, kw_only=True, slots=True)
class Fetched:
    """One ticker as its source gave it: nothing repaired, sorted or left out, for the checks to judge."""

    bars: pl.DataFrame  # RAW_BARS; dates are never null, all else may be
    currency: str | None = None  # ISO 4217, or the vendor's own such as GBp for pence; None: not said
    splits: Mapping[datetime.date, float] = field(default_factory=dict)  # new shares for an old one
    provisional: tuple[datetime.date, ...] = ()  # bars the vendor may still change
    notes: tuple[str, ...] = ()  # what a reader should know, for the manifest
    revision: "Revision | None" = None  # how bars fetched earlier have changed since


@dataclass(frozen=True, kw_only=True, slots=True)
class Revision:
    """How a vendor's history differs from the one it gave before."""

    ticker: str
    rows_added: int  # dates within the earlier span that were not there
    rows_removed: int
    rows_changed: int
    first: str  # first date that differs, ISO
    last: str
    largest_change: float  # relative, of any price; 0.5 after a split of two for one
    suspected_split: float | None  # the common ratio of old to new prices, where it is one

    def __str__(self) -> str:
        """One line for the log."""
        split = f", as after a split of {self.suspected_split:g}" if self.suspected_split else ""
        return (
            f"{self.ticker}: the vendor revised {self.rows_changed} bars, added {self.rows_added} and "
            f"removed {self.rows_removed} between {self.first} and {self.last}; "
            f"largest change {self.largest_change:.2%}{split}"
        )


def between(
    bars: pl.DataFrame, start: datetime.date, end: datetime.date, ticker: str, origin: str
) -> pl.DataFrame:
    """Return the bars from `start` to `end`, both inclusive, or raise `NoBarsError` saying what there is."""
    inside = bars.filter(pl.col("date").is_between(start, end))
    if inside.is_empty() and not bars.is_empty():
        days = bars["date"].sort().to_list()
        raise NoBarsError(
            f"{ticker}: {origin} has {days[0]} to {days[-1]}, nothing from {start} "
            f"to {end}; set data.start, data.end and windows.test_start"
        )
    return inside


class Source(Protocol):
    """Where bars come from."""

    @property
    def name(self) -> str:
        """The value of `data.source` that chooses it."""
        ...

    def tickers(self) -> tuple[str, ...] | None:
        """Every ticker it offers, sorted; None where only a network could tell."""
        ...

    def fetch(self, ticker: str, start: datetime.date, end: datetime.date) -> Fetched:
        """One ticker from `start` to `end`, both inclusive.

        Raises
        ------
        UnknownTickerError
            The source has no such ticker, or no bars of it between the dates.
        UnreachableError
            The source did not answer, so it is not known whether it has the ticker.
        DataError
            What it has cannot be read.
        """
        ...

    def packages(self) -> tuple[str, ...]:
        """The distributions whose version the bars depend on, for the manifest."""
        ...
