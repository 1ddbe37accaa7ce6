"""Scores of one model's forecasts of one part. The name says the direction: `*_error` lower is better,
`*_score` and `*_accuracy` higher.

The market went *up* where the realised log-return is above 0, and a forecast calls up where its probability
is above one half; a return of exactly 0 and a probability of exactly one half count as down.

Where a score is undefined because only one class was realised, it takes the value of no skill: 0.5 for
balanced accuracy and ROC-AUC, 0 for Matthews' correlation. Average precision is then the share of ups. A
forecast that calls one direction only, or is constant, gets the same values by the definitions themselves.
"""

import math
from typing import Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from candlecast.errors import EvaluationError
from candlecast.evaluation.correlation import information_scores
from candlecast.schema import FORECASTS, check

_NUMBERS: Final = ("realised_return", "forecast_return", "probability_up")


def scores(frame: pl.DataFrame, training_mean: float | NDArray[np.float64]) -> dict[str, float]:
    """Return every score of the forecasts of one model and one part.

    Parameters
    ----------
    frame
        Rows in `schema.FORECASTS`, one a window.
    training_mean
        Mean realised log-return of the training windows: the forecast that R2 measures against. One
        value a row where folds with training spans of their own are pooled.

    Raises
    ------
    EvaluationError
        There are no rows, two rows share a window, a number is not finite, or a score comes out so.
    """
    check_forecasts(frame)
    realised, forecast, probability = (frame[name].to_numpy() for name in _NUMBERS)
    result = {
        **return_scores(realised, forecast, training_mean),
        **direction_scores(realised > 0, probability),
        **information_scores(frame),
    }
    for name, value in result.items():
        if not math.isfinite(value):
            raise EvaluationError(
                f"{_label(frame)}: {name} is {value} on {frame.height} windows; "
                "there are too few of them, or they do not vary"
            )
    return result


def return_scores(
    realised: NDArray[np.float64], forecast: NDArray[np.float64], training_mean: float | NDArray[np.float64]
) -> dict[str, float]:
    """Return the errors of a return forecast, in log-return, and its R2 against the training mean."""
    from sklearn import metrics as sk  # here, as it takes as long as torch to import

    reference = sk.mean_squared_error(realised, np.broadcast_to(training_mean, realised.shape))
    if reference == 0:
        raise EvaluationError(
            "out_of_sample_r2_score: every realised return equals the training mean, so there is no "
            "variation to explain; check the prices of the test span"
        )
    return {
        "mean_absolute_error": float(sk.mean_absolute_error(realised, forecast)),
        "root_mean_squared_error": float(sk.root_mean_squared_error(realised, forecast)),
        "out_of_sample_r2_score": float(1 - sk.mean_squared_error(realised, forecast) / reference),
    }


def direction_scores(up: NDArray[np.bool_], probability: NDArray[np.float64]) -> dict[str, float]:
    """Return how well a probability of going up foresaw the direction."""
    from sklearn import metrics as sk  # here, as it takes as long as torch to import

    called = probability > 0.5
    one_class = bool(up.all() or not up.any())
    return {
        "directional_accuracy": float(sk.accuracy_score(up, called)),
        "balanced_accuracy": 0.5 if one_class else float(sk.balanced_accuracy_score(up, called)),
        "matthews_correlation_score": 0.0 if one_class else float(sk.matthews_corrcoef(up, called)),
        "roc_auc_score": 0.5 if one_class else float(sk.roc_auc_score(up, probability)),
        "average_precision_score": float(up.mean())
        if one_class
        else float(sk.average_precision_score(up, probability)),
        "log_loss_error": float(sk.log_loss(up, probability, labels=[False, True])),
        "brier_error": float(sk.brier_score_loss(up, probability, pos_label=True)),
    }


def check_forecasts(frame: pl.DataFrame) -> pl.DataFrame:
    """Return `frame`, or raise `EvaluationError` naming the window that cannot be scored."""
    check(frame, FORECASTS, "forecasts")
    if frame.is_empty():
        raise EvaluationError("forecasts: no windows to score; start the test span earlier or add tickers")
    keys = ["model", "part", "ticker", "date"]
    if frame.select(keys).is_duplicated().any():
        row = frame.filter(frame.select(keys).is_duplicated()).row(0, named=True)
        raise EvaluationError(f"{_label(frame)}: {row['ticker']} on {row['date']} is forecast twice")
    for name in _NUMBERS:
        bad = frame.filter(~pl.col(name).is_finite().fill_null(False))
        if bad.height:
            row = bad.row(0, named=True)
            raise EvaluationError(
                f"{_label(frame)}: {name} is {row[name]} for {row['ticker']} on {row['date']} "
                f"({bad.height} of {frame.height} windows); a score over the rest would hide it"
            )
    outside = frame.filter(~pl.col("probability_up").is_between(0, 1))
    if outside.height:
        row = outside.row(0, named=True)
        raise EvaluationError(
            f"{_label(frame)}: probability_up is {row['probability_up']} for {row['ticker']} on "
            f"{row['date']}, outside 0 to 1"
        )
    return frame


def _label(frame: pl.DataFrame) -> str:
    return f"{frame['model'][0]}, {frame['part'][0]}"
