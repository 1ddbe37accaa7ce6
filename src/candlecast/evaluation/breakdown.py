"""Where a model's forecasts are right: by direction, by stated probability, by year, by ticker.

Each takes one model's forecasts of one part in `schema.FORECASTS`; up and down as in `metrics`.
"""

import polars as pl

UP = pl.col("realised_return") > 0
CALLED_UP = pl.col("probability_up") > 0.5


def directions(frame: pl.DataFrame) -> pl.DataFrame:
    """Return one row a window: date, ticker, realised and forecast, each "up" or "down"."""
    return frame.select(
        "date",
        "ticker",
        pl.when(UP).then(pl.lit("up")).otherwise(pl.lit("down")).alias("realised"),
        pl.when(CALLED_UP).then(pl.lit("up")).otherwise(pl.lit("down")).alias("forecast"),
    )


def confusion(frame: pl.DataFrame) -> pl.DataFrame:
    """Return the four counts: realised, forecast, windows; a pair that never occurred counts 0."""
    pairs = pl.DataFrame({"realised": ["down", "down", "up", "up"], "forecast": ["down", "up", "down", "up"]})
    counts = directions(frame).group_by("realised", "forecast").agg(pl.len().cast(pl.Int64).alias("windows"))
    return pairs.join(counts, on=["realised", "forecast"], how="left", maintain_order="left").with_columns(
        pl.col("windows").fill_null(0)
    )


def reliability(frame: pl.DataFrame, bins: int) -> pl.DataFrame:
    """Return bins of equal counts of windows, by stated probability of going up.

    Columns: forecast_probability (mean in the bin), realised_share (of ups), windows. Equal counts, because
    honest probabilities crowd around one half and equal widths would leave most bins empty. Windows that
    share a probability share a bin, so a constant forecast has one bin.
    """
    ordinal = pl.col("probability_up").rank("min") - 1
    return (
        frame.with_columns((ordinal * bins // pl.len()).alias("bin"))
        .group_by("bin")
        .agg(
            pl.col("probability_up").mean().alias("forecast_probability"),
            UP.mean().alias("realised_share"),
            pl.len().cast(pl.Int64).alias("windows"),
        )
        .sort("bin")
        .drop("bin")
    )


def return_deciles(frame: pl.DataFrame, bins: int = 10) -> pl.DataFrame:
    """Return bins of equal counts of windows, by forecast return.

    Columns: forecast_return and realised_return (means in the bin), windows.
    """
    ordinal = pl.col("forecast_return").rank("min") - 1
    return (
        frame.with_columns((ordinal * bins // pl.len()).alias("bin"))
        .group_by("bin")
        .agg(
            pl.col("forecast_return").mean(),
            pl.col("realised_return").mean(),
            pl.len().cast(pl.Int64).alias("windows"),
        )
        .sort("bin")
        .drop("bin")
    )


def accuracy_by_year(frame: pl.DataFrame) -> pl.DataFrame:
    """Return one row a calendar year: year, directional_accuracy, always_up_accuracy, windows."""
    return _accuracy(frame.with_columns(pl.col("date").dt.year().alias("year")), "year")


def accuracy_by_ticker(frame: pl.DataFrame) -> pl.DataFrame:
    """Return one row a ticker: ticker, directional_accuracy, always_up_accuracy, windows."""
    return _accuracy(frame, "ticker")


def _accuracy(frame: pl.DataFrame, by: str) -> pl.DataFrame:
    return (
        frame.group_by(by)
        .agg(
            (UP == CALLED_UP).mean().alias("directional_accuracy"),
            UP.mean().alias("always_up_accuracy"),
            pl.len().cast(pl.Int64).alias("windows"),
        )
        .sort(by)
    )
