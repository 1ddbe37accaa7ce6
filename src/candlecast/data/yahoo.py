"""Daily bars from Yahoo Finance, through yfinance."""

import datetime

import polars as pl

from candlecast.data.source import RAW_BARS, Fetched
from candlecast.errors import DataError


class YahooSource:
    """One `Ticker.history` a ticker; never `download`, which turns every failure into an empty frame."""

    name = "yahoo"

    def tickers(self) -> None:
        """Only Yahoo could tell."""
        return

    def packages(self) -> tuple[str, ...]:
        """The client library."""
        return ("yfinance",)

    def fetch(self, ticker: str, start: datetime.date, end: datetime.date) -> Fetched:
        """One ticker's `RAW_BARS`, both dates inclusive; raises `DataError` naming what failed."""
        import yfinance

        yfinance.config.debug.hide_exceptions = False  # otherwise an outage looks like a delisting
        after_end = end + datetime.timedelta(days=1)  # Yahoo's own end is exclusive
        try:
            found = yfinance.Ticker(ticker).history(
                start=start, end=after_end, interval="1d", auto_adjust=False, actions=True
            )
        except Exception as error:
            raise DataError(f"data.tickers: {ticker}: Yahoo gave no bars ({error})") from error
        if found.empty:
            raise DataError(f"data.tickers: {ticker}: Yahoo has no bars from {start} to {end}")
        names = ("Open", "High", "Low", "Close", "Adj Close", "Volume")
        columns = {
            field: found[name].to_numpy() for field, name in zip(RAW_BARS.names()[1:], names, strict=True)
        }
        frame = pl.DataFrame({"date": list(found.index.date), **columns})
        frame = frame.select(pl.all().cast(pl.Float64, strict=True).exclude("date"), "date")
        return Fetched(bars=frame.select(RAW_BARS.names()).filter(pl.col("date").is_between(start, end)))
