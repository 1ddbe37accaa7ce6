"""How scores, models and numbers are written for a reader."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

LABELS: Final = {
    "candlecast": "Candlecast",
    "training_mean": "Training mean and majority",
    "zero_return": "Zero return",
    "last_return": "Last return again",
    "ridge_logistic": "Ridge and logistic regression",
    "gradient_boosting": "Gradient boosting",
}


@dataclass(frozen=True, slots=True)
class Score:
    """How a score of `metrics.json` is shown."""

    name: str
    label: str
    explanation: str
    show: Callable[[float], str]
    show_difference: Callable[[float], str]
    compared: bool = True  # also in the table of all models, which has room for few


def label(model: str) -> str:
    """Return a model's name for a reader."""
    return LABELS.get(model, model.replace("_", " ").capitalize())


def inside(model: str) -> str:
    """Return a model's name inside a sentence."""
    name = label(model)
    return name if model == "candlecast" else name[0].lower() + name[1:]


def minus(number: str) -> str:
    """Return a written number with a minus sign in the place of its hyphen."""
    return number.replace("-", "\u2212")


def share(value: float) -> str:
    """Return a share as a percentage."""
    return f"{value:.1%}"


def points(value: float) -> str:
    """Return a difference of shares in percentage points."""
    return minus(f"{100 * value:+.1f} pt")


def percent(value: float) -> str:
    """Return a share as a signed percentage."""
    return minus(f"{100 * value:+.2f}%")


def size(value: float) -> str:
    """Return a small log-return as a percentage."""
    return f"{100 * value:.3f}%"


def fine_percent(value: float) -> str:
    """Return a difference of small returns as a signed percentage."""
    return minus(f"{100 * value:+.3f}%")


def signed(value: float) -> str:
    """Return a number with its sign."""
    return minus(f"{value:+.3f}")


def fine_signed(value: float) -> str:
    """Return a small difference with its sign."""
    return minus(f"{value:+.4f}")


def plain(value: float) -> str:
    """Return a number as it is."""
    return f"{value:.3f}"


def fine(value: float) -> str:
    """Return a number whose differences are small."""
    return f"{value:.4f}"


def p_value(value: float) -> str:
    """Return a p-value as it is usually written, in one piece."""
    if value < 0.001:
        return "p\u00a0<\u00a00.001"
    return f"p\u00a0=\u00a0{value:.2f}" if value >= 0.01 else f"p\u00a0=\u00a0{value:.3f}"


SCORES: Final = (
    Score(
        "directional_accuracy",
        "Directional accuracy",
        "share of windows whose direction was called right",
        share,
        points,
    ),
    Score(
        "balanced_accuracy",
        "Balanced accuracy",
        "mean of the shares right among ups and among downs; 50% is no skill",
        share,
        points,
    ),
    Score(
        "matthews_correlation_score",
        "MCC",
        "Matthews' correlation of called and realised direction; 0 is no skill",
        signed,
        signed,
        compared=False,
    ),
    Score(
        "roc_auc_score",
        "ROC-AUC",
        "chance that an up had a higher probability than a down; 0.5 is no skill",
        plain,
        signed,
    ),
    Score(
        "average_precision_score",
        "PR-AUC",
        "average precision of ups; the share of ups is no skill",
        plain,
        signed,
        compared=False,
    ),
    Score(
        "log_loss_error",
        "Log-loss",
        "of the probability; 0.693 is one half always; lower is better",
        fine,
        fine_signed,
        compared=False,
    ),
    Score(
        "brier_error",
        "Brier error",
        "mean squared error of the probability; 0.25 is one half always; lower is better",
        fine,
        fine_signed,
    ),
    Score(
        "out_of_sample_r2_score",
        "R\u00b2",
        "share of squared error removed from the training mean's; 0 is no skill",
        percent,
        percent,
    ),
    Score(
        "root_mean_squared_error",
        "RMSE",
        "root mean squared error of the log-return; lower is better",
        size,
        fine_percent,
    ),
    Score(
        "mean_absolute_error",
        "MAE",
        "mean absolute error of the log-return; lower is better",
        size,
        fine_percent,
        compared=False,
    ),
    Score(
        "daily_rank_information_coefficient_score",
        "Rank IC, daily",
        "rank correlation across tickers, mean over days",
        signed,
        signed,
    ),
    Score(
        "daily_information_coefficient_score",
        "IC, daily",
        "correlation across tickers, mean over days",
        signed,
        signed,
        compared=False,
    ),
    Score(
        "daily_rank_information_coefficient_ratio_score",
        "Rank ICIR",
        "mean of the daily rank correlation over its standard deviation, not annualised",
        signed,
        signed,
        compared=False,
    ),
    Score(
        "pooled_rank_information_coefficient_score",
        "Rank IC, pooled",
        "rank correlation over all windows",
        signed,
        signed,
    ),
)
