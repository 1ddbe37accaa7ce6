"""A model's losses day by day: small enough to keep with every run, and all that it takes to compare runs."""

import hashlib
import io
from typing import Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from candlecast.evaluation.evaluate import MODEL, select

Floats = NDArray[np.float64]

# Mean over a day's windows of the squared error of the return, that of the probability, and of the hits.
COLUMNS: Final = ("squared", "brier", "hits")


def daily_losses(frame: pl.DataFrame) -> pl.DataFrame:
    """Return date and `COLUMNS`, one row a day; `frame` holds one model's forecasts of one part."""
    realised, probability = pl.col("realised_return"), pl.col("probability_up")
    up = realised > 0
    return (
        frame.group_by("date")
        .agg(
            ((realised - pl.col("forecast_return")) ** 2).mean().alias("squared"),
            ((probability - up) ** 2).mean().alias("brier"),
            (up == (probability > 0.5)).mean().alias("hits"),
        )
        .sort("date")
    )


def span_digest(forecasts: pl.DataFrame, horizon: int) -> str:
    """Return what two runs share whose daily losses may be compared: the test windows and their outcomes.

    SHA-256 over the horizon and each window's ticker, date and realised return to nine decimals, which no
    machine rounds differently; the same for any order of rows. How the windows were forecast does not enter.
    """
    rows = select(forecasts, MODEL, "test")
    digest = hashlib.sha256(str(horizon).encode())
    for ticker, date in rows.select("ticker", "date").iter_rows():
        digest.update(f"{ticker}\0{date}\0".encode())
    digest.update((np.round(rows["realised_return"].to_numpy(), 9) + 0.0).astype("<f8").tobytes())
    return digest.hexdigest()


def parse_daily_losses(text: str, dates: pl.Series) -> dict[str, Floats] | None:
    """Return column -> one value a day from the text of a CSV file; None unless it covers just `dates`."""
    try:
        frame = pl.read_csv(io.StringIO(text), schema_overrides={"date": pl.Date()})
        frame = frame.select("date", pl.col(COLUMNS).cast(pl.Float64, strict=True))
    except pl.exceptions.PolarsError:
        return None
    known = frame.select(pl.col(COLUMNS).is_finite().fill_null(False).all()).row(0)
    if not frame["date"].equals(dates) or not all(known):
        return None
    return {name: frame[name].to_numpy() for name in COLUMNS}
