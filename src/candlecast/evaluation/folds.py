"""Walk-forward folds as one test span: each day once, each fold measured against its own training mean."""

from collections.abc import Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from candlecast.errors import EvaluationError


def pool_folds(folds: Sequence[tuple[pl.DataFrame, float]]) -> tuple[pl.DataFrame, NDArray[np.float64]]:
    """Return the test forecasts of several folds together, and the training mean behind each window.

    Parameters
    ----------
    folds
        For each fold its forecasts in `schema.FORECASTS`, of every model, and its training mean.

    Returns
    -------
    forecasts
        Of the test part, sorted by model, date and ticker.
    training_mean
        One value a window of a single model, sorted by date and ticker: what `metrics.scores`,
        `resampling.DayScores` and `evidence.gather_evidence` take.

    Raises
    ------
    EvaluationError
        A window is in two folds, or the folds do not hold the same models.
    """
    names = [sorted(frame["model"].unique()) for frame, _ in folds]
    for index, each in enumerate(names):
        if each != names[0]:
            raise EvaluationError(
                f"fold {index}: holds the models {', '.join(each)}, fold 0 {', '.join(names[0])}; run both "
                "with the same baselines"
            )
    pooled = pl.concat(
        frame.filter(part="test").with_columns(
            pl.lit(mean).alias("training_mean"), pl.lit(index).alias("fold")
        )
        for index, (frame, mean) in enumerate(folds)
    ).sort("model", "date", "ticker")
    keys = ["model", "date", "ticker"]
    twice = pooled.filter(pooled.select(keys).is_duplicated())
    if twice.height:
        row, other = twice.row(0, named=True), twice.row(1, named=True)
        raise EvaluationError(
            f"folds {row['fold']} and {other['fold']}: both forecast {row['ticker']} on {row['date']}; run "
            "each fold of one windows.folds once, with the same windows.test_start and data.end"
        )
    one = pooled.filter(pl.col("model") == names[0][0])
    return pooled.drop("training_mean", "fold"), one["training_mean"].to_numpy()
