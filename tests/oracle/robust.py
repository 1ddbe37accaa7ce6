"""Autocorrelation-robust variances written out, slowly."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def bartlett_variance_of_mean(values: Floats, lags: int) -> float:
    """Newey & West's (1987) variance of a mean: sum of weighted autocovariances over n squared."""
    n = len(values)
    centred = values - values.mean()
    total = sum(centred[t] ** 2 for t in range(n))
    for lag in range(1, lags + 1):
        weight = 1 - lag / (lags + 1)
        total += 2 * weight * sum(centred[t] * centred[t - lag] for t in range(lag, n))
    return float(total / n**2)


def driscoll_kraay_t(y: Floats, x: Floats, day: NDArray[np.int64], lags: int) -> float:
    """The slope's t in a regression of y on x and a constant, by Driscoll & Kraay (1998)."""
    design = np.stack([np.ones_like(x), x], axis=1)
    beta = np.linalg.solve(design.T @ design, design.T @ y)
    moments = design * (y - design @ beta)[:, None]
    sums = np.array([moments[day == each].sum(axis=0) for each in np.unique(day)])
    middle = sums.T @ sums
    for lag in range(1, lags + 1):
        cross = sums[lag:].T @ sums[:-lag]
        middle += (1 - lag / (lags + 1)) * (cross + cross.T)
    bread = np.linalg.inv(design.T @ design)
    covariance = bread @ middle @ bread
    return float(beta[1] / np.sqrt(covariance[1, 1]))
