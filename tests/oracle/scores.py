"""The scores written out from their definitions, slowly."""

import math
from collections.abc import Callable

import numpy as np
import polars as pl
from scipy import stats


def slow_scores(frame: pl.DataFrame, training_mean: float) -> dict[str, float]:
    """Return every score by loops and textbook formulas."""
    rows = list(frame.iter_rows(named=True))
    realised = [row["realised_return"] for row in rows]
    forecast = [row["forecast_return"] for row in rows]
    probability = [row["probability_up"] for row in rows]
    up = [value > 0 for value in realised]
    called = [value > 0.5 for value in probability]
    n = len(rows)
    errors = [f - r for f, r in zip(forecast, realised, strict=True)]
    tp = sum(u and c for u, c in zip(up, called, strict=True))
    tn = sum(not u and not c for u, c in zip(up, called, strict=True))
    fp = sum(c and not u for u, c in zip(up, called, strict=True))
    fn = n - tp - tn - fp
    ups = [p for p, u in zip(probability, up, strict=True) if u]
    downs = [p for p, u in zip(probability, up, strict=True) if not u]
    wins = sum((a > b) + 0.5 * (a == b) for a in ups for b in downs)
    spread = math.sqrt((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn))
    return {
        "mean_absolute_error": math.fsum(abs(e) for e in errors) / n,
        "root_mean_squared_error": math.sqrt(math.fsum(e * e for e in errors) / n),
        "out_of_sample_r2_score": 1
        - math.fsum(e * e for e in errors) / math.fsum((r - training_mean) ** 2 for r in realised),
        "directional_accuracy": (tp + tn) / n,
        "balanced_accuracy": (tp / (tp + fn) + tn / (tn + fp)) / 2,
        "matthews_correlation_score": (tp * tn - fp * fn) / spread if spread else 0.0,
        "roc_auc_score": wins / (len(ups) * len(downs)),
        "average_precision_score": _average_precision(probability, up),
        "log_loss_error": -math.fsum(
            math.log(p if u else 1 - p) for p, u in zip(probability, up, strict=True)
        )
        / n,
        "brier_error": math.fsum((p - u) ** 2 for p, u in zip(probability, up, strict=True)) / n,
        **_coefficients(frame),
    }


def _average_precision(probability: list[float], up: list[bool]) -> float:
    total = 0.0
    previous = 0.0
    for threshold in sorted(set(probability), reverse=True):
        chosen = [u for p, u in zip(probability, up, strict=True) if p >= threshold]
        recall = sum(chosen) / sum(up)
        total += (recall - previous) * sum(chosen) / len(chosen)
        previous = recall
    return total


def _coefficients(frame: pl.DataFrame) -> dict[str, float]:
    result = {}
    for view, column in (("daily", "date"), ("pooled", None), ("ticker", "ticker")):
        groups = [frame] if column is None else frame.partition_by(column)
        for name, function in (("", stats.pearsonr), ("rank_", stats.spearmanr)):
            values = [_coefficient(group, function) for group in groups]
            result[f"{view}_{name}information_coefficient_score"] = float(np.mean(values))
            if view == "daily":
                ratio = float(np.mean(values) / np.std(values, ddof=1))
                result[f"daily_{name}information_coefficient_ratio_score"] = ratio
    return result


def _coefficient(group: pl.DataFrame, function: Callable[..., tuple[float, float]]) -> float:
    forecast, realised = group["forecast_return"].to_numpy(), group["realised_return"].to_numpy()
    if len(set(forecast)) == 1 or len(set(realised)) == 1:
        return 0.0
    return float(function(forecast, realised)[0])
