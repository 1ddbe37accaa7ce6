"""Bars to test indicators on: random ones of any length, and the real sample, adjusted."""

import datetime
from collections.abc import Mapping
from typing import Any

import bokeh_sampledata.stocks as sample
import numpy as np
import polars as pl

from candlecast.schema import BARS

FIRST_DAY = datetime.date(2001, 1, 1)


def bars_frame(columns: Mapping[str, Any], ticker: str = "ABC", segment: int = 0) -> pl.DataFrame:
    """Return open, high, low, close and volume as bars of one history, a day apart."""
    length = len(columns["close"])
    days = [FIRST_DAY + datetime.timedelta(days=1000 * segment + day) for day in range(length)]
    return pl.DataFrame(
        {"ticker": [ticker] * length, "date": days, "segment": [segment] * length, **columns}, schema=BARS
    )


def random_bars(length: int, seed: int, ticker: str = "ABC", segment: int = 0) -> pl.DataFrame:
    """Return a random walk with gaps, unchanged closes and the odd bar without range or volume."""
    generator = np.random.default_rng(seed)
    steps = generator.normal(0, 0.02, length) * (generator.random(length) > 0.05)
    close = generator.lognormal(3, 1) * np.exp(np.cumsum(steps))
    opening = np.concatenate([close[:1], close[:-1]]) * np.exp(generator.normal(0, 0.005, length))
    high = np.maximum(opening, close) * (1 + generator.exponential(0.005, length))
    low = np.minimum(opening, close) * (1 - generator.exponential(0.005, length))
    still = generator.random(length) < 0.02
    volume = np.round(generator.lognormal(13, 1, length)) * (generator.random(length) > 0.02)
    return bars_frame(
        {
            "open": np.where(still, close, opening),
            "high": np.where(still, close, high),
            "low": np.where(still, close, low),
            "close": close,
            "volume": volume,
        },
        ticker,
        segment,
    )


def sample_bars(ticker: str) -> pl.DataFrame:
    """Return a real stock's bars, adjusted for splits and dividends by its adjusted close."""
    raw = {name: np.asarray(values) for name, values in getattr(sample, ticker).items() if name != "date"}
    ratio = raw["adj_close"] / raw["close"]
    prices = {name: raw[name] * ratio for name in ("open", "high", "low", "close")}
    return bars_frame({**prices, "volume": raw["volume"] / ratio}, ticker)


def on_grid(bars: pl.DataFrame) -> pl.DataFrame:
    """Return the bars with prices rounded to 2^-20, whose sums and differences are then exact.

    In adjusted prices two equal moves differ by rounding, and TA-Lib lets that decide which was larger.
    """
    return bars.with_columns((pl.col("open", "high", "low", "close") * 2**20).round() / 2**20)
