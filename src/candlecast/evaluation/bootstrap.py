"""How uncertain a score is: the stationary block bootstrap over whole days.

Days are drawn in blocks of random length (Politis & Romano 1994, `arch.bootstrap.StationaryBootstrap`), all
tickers of a day together: outcomes of one day move together, and outcomes of neighbouring days overlap, so
windows drawn one by one would look several times more certain than they are.
"""

import math
from dataclasses import dataclass
from typing import Final

import numpy as np
import scipy
from numpy.typing import NDArray

from candlecast.errors import EvaluationError

MIN_BLOCKS: Final = 8  # fewer independent pieces than this make no interval


@dataclass(frozen=True, slots=True)
class Interval:
    """Where a score would fall in most repetitions of the test span."""

    low: float
    high: float

    def excludes(self, value: float) -> bool:
        """Whether `value` lies outside."""
        return not self.low <= value <= self.high


def block_length(daily: NDArray[np.float64], horizon: int) -> int:
    """Return the mean block in days: the longest that any daily series [days, series] asks for.

    By Politis & White (2004, corrected 2009) as `arch.bootstrap.optimal_block_length` has it, and at least
    three horizons, within which outcomes overlap; but never so long that fewer than `MIN_BLOCKS` remain.

    Raises
    ------
    EvaluationError
        The days hold fewer than `MIN_BLOCKS` horizons.
    """
    from arch.bootstrap import optimal_block_length  # here, as it takes as long as torch to import

    days = len(daily)
    varying = [column for column in daily.T if column.std() > 1e-12 * max(abs(column).max(), 1e-300)]
    wanted = [float(optimal_block_length(column)["stationary"].iloc[0]) for column in varying]
    length = max([math.ceil(each) for each in wanted if math.isfinite(each)] + [3 * horizon])
    if days < MIN_BLOCKS * horizon:
        raise EvaluationError(
            f"windows.horizon: {days} test days hold fewer than {MIN_BLOCKS} outcomes of {horizon} bars that "
            "do not overlap, too few for an interval; start the test earlier or shorten the horizon"
        )
    return min(length, days // MIN_BLOCKS)


def day_counts(days: int, block: int, replications: int, seed: int) -> NDArray[np.int64]:
    """Return how often each day is drawn [replications, days]; each row sums to `days`."""
    from arch.bootstrap import StationaryBootstrap  # here, as it takes as long as torch to import

    bootstrap = StationaryBootstrap(block, np.arange(days), seed=seed)
    draws = (positional[0] for positional, _ in bootstrap.bootstrap(replications))
    return np.stack([np.bincount(drawn, minlength=days) for drawn in draws])


def widening(days: int, block: int, horizon: int, confidence: float) -> float:
    """Return the factor by which resampled scores lie too close to the score itself.

    A resample's variance weighs the autocovariances of the span about the span's own mean (Politis & Romano
    1994, lemma 1). That loses three things, each put back here. The mean takes the sum of the weights over
    days, which is near 2 block / days. Joints between blocks cut through outcomes that overlap: at most
    (horizon^2 - 1) / (3 horizon block), where calls last. And the variance is itself an estimate: Student's t
    with the degrees of freedom of the weights, days / block, takes the normal's place.
    """
    tail = (1 - confidence) / 2
    quantiles = scipy.stats.t.isf(tail, days / block) / scipy.stats.norm.isf(tail)
    lags = np.arange(1, days)
    weights = (1 - lags / days) * (1 - 1 / block) ** lags + lags / days * (1 - 1 / block) ** (days - lags)
    about_mean = 1 - (1 + weights.sum()) / days
    across_joints = 1 - (horizon**2 - 1) / (3 * horizon * block)
    return float(quantiles / math.sqrt(about_mean * across_joints))


def percentile_interval(
    draws: NDArray[np.float64], value: float, confidence: float, widen: float = 1.0
) -> Interval:
    """Return the central interval of the resampled scores, stretched about the score `value` by `widen`."""
    tail = (1 - confidence) / 2
    low, high = np.quantile(draws, [tail, 1 - tail])
    return Interval(float(value + widen * (low - value)), float(value + widen * (high - value)))
