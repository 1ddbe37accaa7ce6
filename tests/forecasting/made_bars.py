"""Bars of random walks, adjusted or raw."""

import datetime
from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from candlecast.schema import BARS

START = datetime.date(2020, 1, 6)  # a Monday


def made_bars(tickers: Sequence[str], num_bars: int, seed: int = 3) -> pl.DataFrame:
    """Return `BARS` of weekdays without a gap."""
    generator = np.random.default_rng(seed)
    frames = []
    days = [START + datetime.timedelta(7 * (index // 5) + index % 5) for index in range(num_bars)]
    for ticker in tickers:
        close = 50 * np.exp(np.cumsum(generator.normal(0, 0.02, num_bars)))
        opens = close * np.exp(generator.normal(0, 0.005, num_bars))
        high = np.maximum(opens, close) * (1 + generator.uniform(0, 0.01, num_bars))
        low = np.minimum(opens, close) * (1 - generator.uniform(0, 0.01, num_bars))
        volume = generator.integers(1_000, 100_000, num_bars).astype(np.float64)
        columns = {
            "ticker": [ticker] * num_bars,
            "date": days,
            "segment": [0] * num_bars,
            "open": opens,
            "high": high,
            "low": low,
            "close": close,
            "volume": volume,
        }
        frames.append(pl.DataFrame(columns, schema=BARS))
    return pl.concat(frames)


def as_table(bars: pl.DataFrame) -> dict[str, list[Any]]:
    """Return bars as the columns of a table somebody sends."""
    return bars.drop("segment").to_dict(as_series=False)
