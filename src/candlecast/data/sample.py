"""Real daily bars that come with a package: five US shares, 2000 to 2013, raw and with an adjusted close.

The package's authors took them from Quandl WIKI Prices, which its publisher put in the public domain. The
five companies are survivors, chosen long after the fact: what holds for them need not hold for the market.
"""

import datetime
from typing import Final

import polars as pl

from candlecast.data.source import RAW_BARS, Fetched, between
from candlecast.errors import UnknownTickerError

TICKERS: Final = ("AAPL", "FB", "GOOG", "IBM", "MSFT")


class SampleSource:
    """The bundled bars; needs no network."""

    name = "sample"

    def tickers(self) -> tuple[str, ...]:
        """The five shares."""
        return TICKERS

    def packages(self) -> tuple[str, ...]:
        """The package that carries the bars."""
        return ("bokeh-sampledata",)

    def fetch(self, ticker: str, start: datetime.date, end: datetime.date) -> Fetched:
        """One ticker, both dates inclusive; raises `UnknownTickerError` for one it lacks or lacks then."""
        from bokeh_sampledata import stocks  # reads its file when imported

        if ticker not in TICKERS:
            raise UnknownTickerError(f"sample has no {ticker}; it has {', '.join(TICKERS)}")
        columns = pl.DataFrame(getattr(stocks, ticker)).rename({"adj_close": "adjusted_close"})
        dated = columns.with_columns(pl.col("date").str.to_date("%Y-%m-%d"))
        bars = dated.select(RAW_BARS.names()).cast(RAW_BARS)
        return Fetched(bars=between(bars, start, end, ticker, self.name), currency="USD")
