"""How likely a Sharpe ratio is more than luck, given its length, its tails and how many were tried.

Bailey & Lopez de Prado, "The Sharpe ratio efficient frontier" (2012) and "The deflated Sharpe ratio" (2014).
Ratios are per day here; times sqrt(252) they are the annual ones people quote.
"""

import math
from typing import Final

import numpy as np
import scipy
from numpy.typing import NDArray

Floats = NDArray[np.float64]

SESSIONS_A_YEAR: Final = 252


def daily_sharpe(returns: Floats) -> float:
    """Return mean / standard deviation (ddof 0); 0 where the returns never vary."""
    spread = float(returns.std())
    return float(returns.mean()) / spread if spread > 0 else 0.0


def probable(returns: Floats, benchmark: float = 0.0) -> float:
    """Return the probability that the true daily ratio is above `benchmark`; 0.5 where returns never vary."""
    if returns.std() == 0:
        return 0.5
    return probability_above(
        daily_sharpe(returns),
        benchmark,
        len(returns),
        float(scipy.stats.skew(returns, bias=False)),
        float(scipy.stats.kurtosis(returns, bias=False, fisher=False)),
    )


def probability_above(ratio: float, benchmark: float, days: int, skew: float, kurtosis: float) -> float:
    """Return the probabilistic Sharpe ratio from its ingredients; `kurtosis` of a normal is 3."""
    variance = 1 - skew * ratio + (kurtosis - 1) / 4 * ratio**2
    return float(scipy.stats.norm.cdf((ratio - benchmark) * math.sqrt((days - 1) / variance)))


def expected_best(trials: int, spread: float) -> float:
    """Return the largest of `trials` daily ratios to be expected without skill.

    `spread` is the standard deviation of the ratios over the trials.
    """
    if trials <= 1:
        return 0.0
    euler = float(np.euler_gamma)
    quantiles = scipy.stats.norm.isf([1 / trials, 1 / (trials * math.e)])
    return spread * float((1 - euler) * quantiles[0] + euler * quantiles[1])


def deflated(returns: Floats, trials: int, spread: float | None = None) -> float:
    """Return the probability that the true ratio is above the best of `trials` without skill.

    Without the trials' `spread`, that of ratios without skill over as many days is taken, 1 / sqrt(days - 1).
    """
    if spread is None:
        spread = 1 / math.sqrt(len(returns) - 1)
    return probable(returns, expected_best(trials, spread))
