"""Slow, obvious twins of the baselines: loops over bars, normal equations, Newton's method."""

import math

import numpy as np

from candlecast.windows.panel import Panel
from candlecast.windows.store import WindowStore


def summary(panel: Panel, end: int, summary_bars: tuple[int, ...]) -> list[float]:
    columns = range(len(panel.feature_names))
    values = [float(panel.features[end, column]) for column in columns]
    for bars in summary_bars:
        rows = range(end - bars + 1, end + 1)
        values += [math.fsum(float(panel.features[row, column]) for row in rows) / bars for column in columns]
    return values


def standardised_summaries(
    store: WindowStore, ends: np.ndarray, summary_bars: tuple[int, ...]
) -> tuple[np.ndarray, np.ndarray]:
    """Return the summaries of the training windows and of `ends`, in training deviations."""
    train = np.array([summary(store.panel, end, summary_bars) for end in store.split.train])
    asked = np.array([summary(store.panel, end, summary_bars) for end in ends])
    mean, deviation = train.mean(axis=0), train.std(axis=0)
    return (train - mean) / deviation, (asked - mean) / deviation


def ridge(train: np.ndarray, returns: np.ndarray, asked: np.ndarray, alpha: float) -> np.ndarray:
    """Columns of `train` have mean zero, so the intercept is the mean return and is not penalised."""
    gram = train.T @ train + alpha * np.eye(train.shape[1])
    return returns.mean() + asked @ np.linalg.solve(gram, train.T @ (returns - returns.mean()))


def logistic(train: np.ndarray, up: np.ndarray, asked: np.ndarray, c: float) -> np.ndarray:
    """Newton's method on sum of log losses + |w|^2 / (2 c), the intercept not penalised."""
    design = np.column_stack([np.ones(len(train)), train])
    penalty = np.eye(design.shape[1]) / c
    penalty[0, 0] = 0.0
    weights = np.zeros(design.shape[1])
    for _ in range(50):
        probability = 1 / (1 + np.exp(-design @ weights))
        gradient = design.T @ (probability - up) + penalty @ weights
        curvature = design.T @ (design * (probability * (1 - probability))[:, None]) + penalty
        weights = weights - np.linalg.solve(curvature, gradient)
    return 1 / (1 + np.exp(-np.column_stack([np.ones(len(asked)), asked]) @ weights))


def normal_share_below(value: float) -> float:
    return (1 + math.erf(value / math.sqrt(2))) / 2
