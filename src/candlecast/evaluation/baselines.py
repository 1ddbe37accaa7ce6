"""What a network must beat: forecasts that cost nothing, and two that learn from the same windows.

training_mean       the mean return of the training windows and the share of them that went up, always:
                    as a direction, the majority of training
zero_return         no change
last_return         persistence: the return over the last `horizon` bars once more
ridge_logistic      ridge regression for the return, logistic regression for the direction
gradient_boosting   histogram gradient boosting for each

A forecast of a return alone becomes a probability as if the realised return were normal about it with the
standard deviation of the training returns. It is above one half exactly where the forecast is above 0;
`zero_return` thus has one half everywhere: it holds no opinion on the direction.

The fitted ones see a window as its last bar and its means over its last `baselines.summary_bars` bars, each
column standardised on training. Everything is fitted on the training windows alone, on one thread, so that
the number of processors does not move a digit.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.special import ndtr
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from candlecast.evaluation.config import BaselinesConfig
from candlecast.evaluation.frame import forecast_frame
from candlecast.windows.panel import Panel
from candlecast.windows.split import Part
from candlecast.windows.store import WindowStore


class Prediction(NamedTuple):
    """One value a window."""

    forecast_return: NDArray[np.float64]  # log-return over the horizon
    probability_up: NDArray[np.float64]


# From the panel rows at which windows end to their forecasts.
Predictor = Callable[[NDArray[np.int64]], Prediction]

_FORECAST_PARTS: tuple[Part, ...] = ("validation", "test")


def baseline_forecasts(store: WindowStore, config: BaselinesConfig, seed: int) -> pl.DataFrame:
    """Return the forecasts of every baseline for the validation and test windows, in `schema.FORECASTS`.

    The same store, config and seed give the same frame.
    """
    with threadpool_limits(limits=1):
        predictors = {
            "training_mean": _training_mean(store),
            "zero_return": _zero_return(store),
            "last_return": _last_return(store),
            "ridge_logistic": _ridge_logistic(store, config),
            "gradient_boosting": _gradient_boosting(store, config, seed),
        }
        return pl.concat(
            forecast_frame(store, part, name, *predict(store.split.part(part)))
            for name, predict in predictors.items()
            for part in _FORECAST_PARTS
        )


def realised_by(panel: Panel) -> NDArray[np.float64]:
    """Return, for each row, the log-return over the `horizon` bars that end there; NaN where unknown.

    It is the target of the row `horizon` bars before in the same history, known at the row's close.
    """
    label_row = panel.label_row()
    known = label_row >= 0
    realised = np.full(len(label_row), np.nan)
    realised[label_row[known]] = panel.target[known]
    return realised


def summarise(
    features: NDArray[np.float32], ends: NDArray[np.int64], summary_bars: tuple[int, ...]
) -> NDArray[np.float64]:
    """Return [windows, features x (1 + len(summary_bars))]: the last bar, then the trailing means.

    A mean over b bars is of the rows end - b + 1 .. end, so b must not exceed the window.
    """
    # Sums up to and without each row. Windows hold known values only, so what stands for an unknown one
    # cancels in the difference.
    total = np.zeros((len(features) + 1, features.shape[1]))
    np.cumsum(np.nan_to_num(features, nan=0.0), axis=0, dtype=np.float64, out=total[1:])
    means = [(total[ends + 1] - total[ends + 1 - bars]) / bars for bars in summary_bars]
    return np.concatenate([features[ends], *means], axis=1, dtype=np.float64)


def _training_mean(store: WindowStore) -> Predictor:
    returns = store.panel.target[store.split.train]
    mean, share_up = float(returns.mean()), float((returns > 0).mean())
    return lambda ends: Prediction(np.full(len(ends), mean), np.full(len(ends), share_up))


def _zero_return(store: WindowStore) -> Predictor:
    return lambda ends: _with_probability(store, np.zeros(len(ends)))


def _last_return(store: WindowStore) -> Predictor:
    # A history younger than the horizon has no last return yet: no change is the guess.
    last = np.nan_to_num(realised_by(store.panel), nan=0.0)
    return lambda ends: _with_probability(store, last[ends])


def _with_probability(store: WindowStore, forecast_return: NDArray[np.float64]) -> Prediction:
    deviation = store.panel.target[store.split.train].std()
    scale = deviation if deviation > 0 else 1.0
    return Prediction(forecast_return, ndtr(forecast_return / scale))


def _ridge_logistic(store: WindowStore, config: BaselinesConfig) -> Predictor:
    ridge = Ridge(alpha=config.ridge_alpha, solver="cholesky")
    logistic = LogisticRegression(C=config.logistic_c, max_iter=1000)
    return _fitted(store, config, ridge, logistic)


def _gradient_boosting(store: WindowStore, config: BaselinesConfig, seed: int) -> Predictor:
    options = {
        "max_iter": config.boosting_iterations,
        "learning_rate": config.boosting_learning_rate,
        "early_stopping": False,  # it would hold out random windows, which overlap those it trains on
        "random_state": seed,
    }
    regressor = HistGradientBoostingRegressor(**options)
    return _fitted(store, config, regressor, HistGradientBoostingClassifier(**options))


def _fitted(store: WindowStore, config: BaselinesConfig, regressor: Any, classifier: Any) -> Predictor:
    """Fit both on the training windows; returns in training standard deviations, as the network sees them."""
    train, scale = store.split.train, store.standardizer
    returns = store.panel.target[train]
    inputs = summarise(store.panel.features, train, config.summary_bars)
    regression = make_pipeline(StandardScaler(), regressor)
    regression.fit(inputs, scale.standardise_target(returns))
    up = returns > 0
    # Where training went one way only there is nothing to tell apart, and no classifier to fit.
    direction = None if up.all() or not up.any() else make_pipeline(StandardScaler(), classifier)
    if direction is not None:
        direction.fit(inputs, up)

    def predict(ends: NDArray[np.int64]) -> Prediction:
        inputs = summarise(store.panel.features, ends, config.summary_bars)
        forecast = scale.restore_target(regression.predict(inputs))
        if direction is None:
            return Prediction(forecast, np.full(len(ends), float(up[0])))
        return Prediction(forecast, direction.predict_proba(inputs)[:, 1])

    return predict
