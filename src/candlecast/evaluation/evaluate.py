"""From the forecasts of every model to one table of scores, and its file."""

import json
from pathlib import Path
from typing import Final, TypedDict

import polars as pl

from candlecast.errors import EvaluationError
from candlecast.evaluation.metrics import scores
from candlecast.files import write_text

MODEL: Final = "candlecast"  # the trained network, in the column `model`; every other name is a baseline


class Metrics(TypedDict):
    """Score -> value of the network on each part; under `baselines` name -> score -> value, on test."""

    test: dict[str, float]
    validation: dict[str, float]
    baselines: dict[str, dict[str, float]]


def evaluate(forecasts: pl.DataFrame, training_mean: float) -> Metrics:
    """Return the scores of the network on test and validation, and of every baseline on test.

    Parameters
    ----------
    forecasts
        Rows in `schema.FORECASTS`: the network's and the baselines', of both parts.
    training_mean
        Mean realised log-return of the training windows.

    Raises
    ------
    EvaluationError
        A model does not cover the network's windows, or a score is not finite.
    """
    test = select(forecasts, MODEL, "test")
    baselines = {}
    for name in baseline_names(forecasts):
        frame = select(forecasts, name, "test")
        same_windows(test, frame)
        baselines[name] = scores(frame, training_mean)
    return {
        "test": scores(test, training_mean),
        "validation": scores(select(forecasts, MODEL, "validation"), training_mean),
        "baselines": baselines,
    }


def write_metrics(path: Path, metrics: Metrics) -> None:
    """Write the scores as JSON, the same bytes for the same scores."""
    write_text(path, json.dumps(metrics, indent=2, allow_nan=False) + "\n")


def select(forecasts: pl.DataFrame, model: str, part: str) -> pl.DataFrame:
    """Return one model's forecasts of one part, sorted by date and ticker, or raise if there are none."""
    frame = forecasts.filter(pl.col("model") == model, pl.col("part") == part).sort("date", "ticker")
    if frame.is_empty():
        raise EvaluationError(f"forecasts: {model} has none of the {part} part; run its stage again")
    return frame


def baseline_names(forecasts: pl.DataFrame) -> list[str]:
    """Return the models other than the network, in their order of appearance."""
    return [name for name in forecasts["model"].unique(maintain_order=True) if name != MODEL]


def same_windows(left: pl.DataFrame, right: pl.DataFrame) -> None:
    """Raise `EvaluationError` unless two models forecast the same windows with the same outcomes.

    Both sorted by date and ticker, as `select` returns them.
    """
    keys = ["date", "ticker", "realised_return"]
    if not left.select(keys).equals(right.select(keys)):
        raise EvaluationError(
            f"forecasts: {right['model'][0]} ({right.height} windows) and {left['model'][0]} ({left.height}) "
            f"do not cover the same {left['part'][0]} windows; run the baselines and the evaluation again"
        )
