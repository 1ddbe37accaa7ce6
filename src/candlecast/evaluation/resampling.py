"""Every score of a model under any weighting of days, so that thousands of resamples cost seconds.

A bootstrap over days repeats and omits whole days, all tickers together. Instead of copying rows and calling
`metrics.scores` on each copy, a model's forecasts are reduced once to sums per day (and to sorted orders,
for the scores that rank windows), and a resample is the vector of how often each day was drawn. With each
day drawn once the result is `metrics.scores`; with any other counts it is `metrics.scores` on the copied
rows. The tests hold both to 1e-12.
"""

from typing import Any, Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from candlecast.evaluation.correlation import daily_coefficients, information_scores

Floats = NDArray[np.float64]

_CHUNK: Final = 100_000  # weights held at a time, resamples x windows: what a processor's cache carries


class DayScores:
    """Scores of one model and part as a function of how often each day is drawn.

    Parameters
    ----------
    frame
        One model's forecasts of one part in `schema.FORECASTS`, sorted by date.
    training_mean
        Mean realised log-return of the training windows, or one value a row.
    """

    def __init__(self, frame: pl.DataFrame, training_mean: float | Floats) -> None:
        """Reduce the forecasts to sums per day and to orders."""
        realised, forecast, probability = (
            frame[name].to_numpy() for name in ("realised_return", "forecast_return", "probability_up")
        )
        self.dates: Final = frame["date"].unique(maintain_order=True)
        self._day = np.unique(frame["date"].to_physical().to_numpy(), return_inverse=True)[1]
        up, called = realised > 0, probability > 0.5
        likelihood = np.clip(np.where(up, probability, 1 - probability), np.finfo(float).eps, None)
        per_window = {
            "windows": np.ones(len(realised)),
            "hits": up == called,
            "up": up,
            "called": called,
            "both": up & called,
            "brier": (probability - up) ** 2,
            "log_loss": -np.log(likelihood),
            "absolute": np.abs(realised - forecast),
            "squared": (realised - forecast) ** 2,
            "reference": (realised - training_mean) ** 2,
        }
        self._sums = {name: self._by_day(values.astype(np.float64)) for name, values in per_window.items()}
        self._coefficients = _Coefficients(frame, self._day, len(self.dates))
        self._up = up
        self._by_probability = _Order(probability)
        self.names: Final = tuple(self(np.ones((1, len(self.dates)))))

    def __call__(self, counts: NDArray[Any]) -> dict[str, Floats]:
        """Return each score [resamples] for day counts [resamples, days]."""
        counts = np.asarray(counts, dtype=np.float64)
        chunk = max(_CHUNK // len(self._day), 1)
        parts = [self._scores(counts[start : start + chunk]) for start in range(0, len(counts), chunk)]
        return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}

    def daily(self, name: str) -> Floats:
        """Return one value a day [days]: the mean over its windows of "squared", "absolute", "brier", ..."""
        return self._sums[name] / self._sums["windows"]

    def _scores(self, counts: Floats) -> dict[str, Floats]:
        total = {name: counts @ sums for name, sums in self._sums.items()}
        weights = counts[:, self._day]
        ranking = self._by_probability.ranking_scores(weights, self._up)
        return {
            "mean_absolute_error": total["absolute"] / total["windows"],
            "root_mean_squared_error": np.sqrt(total["squared"] / total["windows"]),
            "out_of_sample_r2_score": 1 - total["squared"] / total["reference"],
            **_confusion_scores(total),
            **ranking,
            "log_loss_error": total["log_loss"] / total["windows"],
            "brier_error": total["brier"] / total["windows"],
            **self._coefficients(counts, weights),
        }

    def _by_day(self, values: Floats) -> Floats:
        sums: Floats = np.bincount(self._day, weights=values, minlength=len(self.dates)).astype(np.float64)
        return sums


def _confusion_scores(total: dict[str, Floats]) -> dict[str, Floats]:
    true_up, up, called, windows = (total[name] for name in ("both", "up", "called", "windows"))
    down = windows - up
    true_down = windows - up - called + true_up
    one_class = (up == 0) | (down == 0)
    spread = np.sqrt(called * (windows - called) * up * down)
    balanced = (true_up / np.maximum(up, 1) + true_down / np.maximum(down, 1)) / 2
    covariance = true_up * true_down - (called - true_up) * (up - true_up)
    return {
        "directional_accuracy": total["hits"] / windows,
        "balanced_accuracy": np.where(one_class, 0.5, balanced),
        "matthews_correlation_score": np.divide(
            covariance, spread, out=np.zeros_like(spread), where=spread > 0
        ),
    }


class _Order:
    """Windows sorted by a value, equal values sharing a place."""

    def __init__(self, values: Floats) -> None:
        self._order = np.argsort(values, kind="stable")
        ascending = values[self._order]
        self._last = np.append(np.flatnonzero(np.diff(ascending)), len(values) - 1)  # of each run of equals
        runs = np.diff(self._last, prepend=-1)
        self._run = np.repeat(np.arange(len(runs)), runs)

    def ranks(self, weights: Floats) -> Floats:
        """Return mid-ranks [resamples, windows] as if each window stood there `weights` times."""
        below = np.cumsum(weights[:, self._order], axis=1)[:, self._last]
        sizes = np.diff(below, axis=1, prepend=0)
        middle = below - (sizes - 1) / 2
        ranks = np.empty_like(weights)
        ranks[:, self._order] = middle[:, self._run]
        return ranks

    def ranking_scores(self, weights: Floats, up: NDArray[np.bool_]) -> dict[str, Floats]:
        """Return the area under the ROC curve and average precision [resamples]."""
        ups = np.cumsum((weights * up)[:, self._order], axis=1)[:, self._last]
        downs = np.cumsum((weights * ~up)[:, self._order], axis=1)[:, self._last]
        all_ups, all_downs = ups[:, -1], downs[:, -1]
        run_ups, run_downs = np.diff(ups, axis=1, prepend=0), np.diff(downs, axis=1, prepend=0)
        won = (run_ups * (downs - run_downs / 2)).sum(axis=1)
        above_ups = all_ups[:, None] - ups + run_ups
        above = above_ups + all_downs[:, None] - downs + run_downs
        precision = above_ups / np.maximum(above, 1)
        one_class = (all_ups == 0) | (all_downs == 0)
        average = (run_ups * precision).sum(axis=1) / np.maximum(all_ups, 1)
        return {
            "roc_auc_score": np.where(one_class, 0.5, won / np.maximum(all_ups * all_downs, 1)),
            "average_precision_score": np.where(one_class, all_ups / (all_ups + all_downs), average),
        }


class _Coefficients:
    """The information coefficients of `correlation.information_scores` under day counts."""

    def __init__(self, frame: pl.DataFrame, day: NDArray[np.int64], days: int) -> None:
        self._names = tuple(information_scores(frame))
        forecast, realised = frame["forecast_return"].to_numpy(), frame["realised_return"].to_numpy()
        self._pair = (forecast, realised)
        daily = daily_coefficients(frame)
        self._daily_day = day[np.searchsorted(frame["date"].to_numpy(), daily["date"].to_numpy())]
        self._daily = {name: daily[name].to_numpy() for name in ("pearson", "spearman")}
        everyone = np.arange(frame.height)
        tickers = (
            frame.with_row_index("row").group_by("ticker", maintain_order=True).agg("row")["row"].to_list()
        )
        self._groups = {"pooled": [everyone], "ticker": [np.array(rows) for rows in tickers]}
        self._orders = {
            view: [tuple(_Order(values[rows]) for values in self._pair) for rows in groups]
            for view, groups in self._groups.items()
        }

    def __call__(self, counts: Floats, weights: Floats) -> dict[str, Floats]:
        scores = {}
        drawn = counts[:, self._daily_day]
        for kind, name in (("pearson", "information"), ("spearman", "rank_information")):
            total = drawn.sum(axis=1)
            scores[f"daily_{name}_coefficient_score"] = drawn @ self._daily[kind] / np.maximum(total, 1)
            scores[f"daily_{name}_coefficient_ratio_score"] = _ratio(drawn, self._daily[kind])
        for view, groups in self._groups.items():
            linear, ranked = [], []
            for rows, orders in zip(groups, self._orders[view], strict=True):
                chosen = weights[:, rows]
                linear.append(_correlation(chosen, *(values[rows] for values in self._pair)))
                ranked.append(_correlation(chosen, *(order.ranks(chosen) for order in orders)))
            scores[f"{view}_information_coefficient_score"] = np.mean(linear, axis=0)
            scores[f"{view}_rank_information_coefficient_score"] = np.mean(ranked, axis=0)
        return {name: scores[name] for name in self._names}


def _ratio(drawn: Floats, daily: Floats) -> Floats:
    """Return mean over standard deviation (ddof 1) of a daily series [resamples]; 0 where it is constant."""
    total = drawn.sum(axis=1)
    mean = drawn @ daily / np.maximum(total, 1)
    apart = (drawn * (daily - mean[:, None]) ** 2).sum(axis=1)
    spread = np.sqrt(apart / np.maximum(total - 1, 1))
    constant = 1e-12 * np.abs(daily).max(initial=1e-300)
    ratio: Floats = np.divide(mean, spread, out=np.zeros_like(mean), where=spread > constant)
    return ratio


def _correlation(weights: Floats, left: Floats, right: Floats) -> Floats:
    """Return the weighted correlation [resamples]; 0 where either side is constant."""
    total = np.maximum(weights.sum(axis=1, keepdims=True), 1)
    sides = []
    for values in (left, right):
        values = np.broadcast_to(values, weights.shape)
        sides.append(values - (weights * values).sum(axis=1, keepdims=True) / total)
    first, second = sides
    covariance = (weights * first * second).sum(axis=1)
    variances = [(weights * side**2).sum(axis=1) for side in sides]
    # Equal numbers minus their mean leave rounding, which is not variation.
    scale = np.array([1e-24 * np.max(values**2, initial=1e-300) * total[:, 0] for values in (left, right)])
    spread = np.sqrt(variances[0] * variances[1])
    varies = (variances[0] > scale[0]) & (variances[1] > scale[1])
    correlation: Floats = np.divide(covariance, spread, out=np.zeros_like(spread), where=varies)
    return correlation
