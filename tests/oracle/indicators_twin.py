"""Slow, obvious twins of the indicators that TA-Lib has not: one window at a time, as the formula reads."""

import itertools
from collections.abc import Callable
from math import log, sqrt

import numpy as np
import polars as pl
from numpy.typing import NDArray

Rows = list[dict[str, float]]


def overnight_return(rows: Rows) -> float:
    """Read two bars."""
    return log(rows[1]["open"] / rows[0]["close"])


def garman_klass(rows: Rows) -> float:
    """Read twenty bars."""
    total = 0.0
    for row in rows:
        total += 0.5 * log(row["high"] / row["low"]) ** 2
        total -= (2 * log(2) - 1) * log(row["close"] / row["open"]) ** 2
    return sqrt(total / len(rows))


def downside_share(rows: Rows) -> float:
    """Read the twenty-one closes of twenty returns."""
    returns = [log(after["close"] / before["close"]) for before, after in itertools.pairwise(rows)]
    return sum(r * r for r in returns if r < 0) / sum(r * r for r in returns)


# Name: how many bars the formula reads, the current one included, and the formula.
TWINS: dict[str, tuple[int, Callable[[Rows], float]]] = {
    "overnight_return": (2, overnight_return),
    "garman_klass_20": (20, garman_klass),
    "downside_share_20": (21, downside_share),
}


def twin(name: str, frame: pl.DataFrame) -> NDArray[np.float64]:
    """Return the indicator for each row of one history, NaN where the window does not fit."""
    length, formula = TWINS[name]
    rows = frame.select("open", "high", "low", "close", "volume").to_dicts()
    values = [np.nan] * (length - 1)
    values += [formula(rows[end - length : end]) for end in range(length, len(rows) + 1)]
    return np.array(values)
