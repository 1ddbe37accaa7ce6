"""Column names and types of the frames that cross a border between stages."""

from pathlib import Path
from typing import Final

import polars as pl

from candlecast.errors import DataError

# One history per (ticker, segment): a gap longer than data.max_gap sessions starts a new segment.
HISTORY: Final = ("ticker", "segment")

# Adjusted daily bars, sorted by ticker and date; prices in the quote currency, volume in shares.
BARS: Final = pl.Schema(
    {
        "ticker": pl.String(),
        "date": pl.Date(),
        "segment": pl.Int32(),
        "open": pl.Float64(),
        "high": pl.Float64(),
        "low": pl.Float64(),
        "close": pl.Float64(),
        "volume": pl.Float64(),
    }
)

# The columns of features.parquet before the indicators, which follow as Float32.
FEATURE_KEYS: Final = pl.Schema(
    {"ticker": pl.String(), "date": pl.Date(), "segment": pl.Int32(), "close": pl.Float64()}
)

# One row per model and window. Returns are log-returns over the horizon; probabilities in [0, 1].
FORECASTS: Final = pl.Schema(
    {
        "model": pl.String(),
        "part": pl.String(),  # "validation" or "test"
        "ticker": pl.String(),
        "date": pl.Date(),  # the window's last bar: everything known at its close
        "realised_return": pl.Float64(),
        "forecast_return": pl.Float64(),
        "probability_up": pl.Float64(),
    }
)


def read_frame(path: Path, schema: pl.Schema, *, alone: bool = False) -> pl.DataFrame:
    """Return a stage's Parquet file, checked, or raise `DataError` naming the file and the remedy.

    With `alone` no column beyond the schema's is read.
    """
    try:
        frame = pl.read_parquet(path, columns=list(schema) if alone else None)
    except (OSError, pl.exceptions.PolarsError) as error:
        reason = "no such file" if isinstance(error, FileNotFoundError) else " ".join(str(error).split())
        raise DataError(f"{path}: {reason}; make it with: dvc repro") from None
    return check(frame, schema, str(path))


def check(frame: pl.DataFrame, schema: pl.Schema, what: str) -> pl.DataFrame:
    """Return `frame` with the schema's columns first, or raise `DataError` naming what differs.

    Columns beyond the schema are allowed: the indicators follow their keys.
    """
    missing = [name for name in schema if name not in frame.columns]
    if missing:
        raise DataError(f"{what}: column {missing[0]!r} is missing; it has {', '.join(frame.columns)}")
    for name, dtype in schema.items():
        if frame.schema[name] != dtype:
            raise DataError(f"{what}: column {name!r} is {frame.schema[name]}, expected {dtype}")
    extra = [name for name in frame.columns if name not in schema]
    return frame.select(*schema, *extra)
