"""The files that `dvc plots show` and `dvc plots diff` draw, shaped for their templates."""

from pathlib import Path

import polars as pl

from candlecast.evaluation.breakdown import accuracy_by_year, directions, reliability
from candlecast.evaluation.days import daily_losses
from candlecast.evaluation.evaluate import MODEL, select
from candlecast.files import replacing


def write_plots(folder: Path, forecasts: pl.DataFrame, bins: int) -> None:
    """Write the network's test forecasts as five CSV files.

    ======================  ===========================================================================
    file                    DVC template and columns
    ======================  ===========================================================================
    predictions.csv         scatter: x forecast_return, y realised_return (also ticker, date)
    confusion.csv           confusion: x forecast, y realised; one row a window, the template counts
    reliability.csv         linear: x forecast_probability, y realised_share
    accuracy_by_year.csv    bar_horizontal: x directional_accuracy, y year
    daily_losses.csv        linear: x date, y squared, brier or hits; what other runs are compared by
    ======================  ===========================================================================
    """
    frame = select(forecasts, MODEL, "test")
    tables = {
        "predictions": frame.select("ticker", "date", "forecast_return", "realised_return", "probability_up"),
        "confusion": directions(frame).select("realised", "forecast"),
        "reliability": reliability(frame, bins),
        "accuracy_by_year": accuracy_by_year(frame).with_columns(pl.col("year").cast(pl.String)),
        "daily_losses": daily_losses(frame),
    }
    for name, table in tables.items():
        with replacing(folder / f"{name}.csv") as temporary:
            # Twelve digits: the last bits of a mean depend on the machine's threads.
            table.write_csv(temporary, float_precision=12)
