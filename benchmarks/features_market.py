"""A random market in memory or in a file, and how much memory a call needs."""

import datetime
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
from benchmarks.process_memory import restart_peak, status_bytes

from candlecast.schema import BARS


def random_bars(tickers: int, bars: int, seed: int = 0) -> pl.DataFrame:
    generator = np.random.default_rng(seed)
    rows = tickers * bars
    close = 100 * np.exp(generator.normal(0, 0.02, (tickers, bars)).cumsum(axis=1)).ravel()
    opening = close * np.exp(generator.normal(0, 0.005, rows))
    first = datetime.date(2000, 3, 1)
    dates = pl.date_range(first, first + datetime.timedelta(days=bars - 1), eager=True)
    return pl.DataFrame(
        {
            "ticker": np.repeat([f"T{index:05d}" for index in range(tickers)], bars),
            "date": pl.concat([dates] * tickers, rechunk=True),
            "segment": np.zeros(rows, dtype=np.int32),
            "open": opening,
            "high": np.maximum(opening, close) * (1 + generator.exponential(0.005, rows)),
            "low": np.minimum(opening, close) / (1 + generator.exponential(0.005, rows)),
            "close": close,
            "volume": np.round(generator.lognormal(13, 1, rows)),
        },
        schema=BARS,
    )


def write_copies(bars: pl.DataFrame, copies: int, path: Path) -> None:
    """Write `copies` universes one after another, with tickers of their own, without holding them all."""
    universes = [
        bars.lazy().with_columns(pl.format("{}-{}", pl.lit(f"U{copy:03d}"), "ticker").alias("ticker"))
        for copy in range(copies)
    ]
    pl.concat(universes).sink_parquet(path, row_group_size=100_000)


def peak_memory(call: Callable[[], object]) -> int:
    """Return by how many bytes the resident memory rose at its highest while `call` ran (Linux)."""
    restart_peak()
    before = status_bytes("VmRSS")
    result = call()
    peak = status_bytes("VmHWM") - before
    del result
    return peak
