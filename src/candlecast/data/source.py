"""What every source of bars has in common."""

import datetime
from typing import Final, Protocol

import polars as pl

# One ticker's daily bars as the vendor gives them, sorted by date. Prices in the quote currency, volume in
# shares; `adjusted_close` is `close` with later splits and dividends taken out of it.
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


class Source(Protocol):
    """Where bars come from."""

    @property
    def name(self) -> str:
        """The value of `data.source` that chooses it."""
        ...

    def tickers(self) -> tuple[str, ...] | None:
        """Every ticker it offers, sorted; None where only a network could tell."""
        ...

    def fetch(self, ticker: str, start: datetime.date, end: datetime.date) -> pl.DataFrame:
        """One ticker's `RAW_BARS` from `start` to `end`, both inclusive; raises `DataError`."""
        ...

    def packages(self) -> tuple[str, ...]:
        """The distributions whose version the bars depend on, for the manifest."""
        ...
