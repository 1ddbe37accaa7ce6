"""Averages and sums along a history.

TA-Lib starts its recursive averages from a mean of the first values, not from the first value.

Polars' `ewm_mean(adjust=False)` starts at the first value that is not null. So everything before the
seed's row is nulled, the seed is put at its row, and the recursion runs on from there.
"""

from typing import Final

import polars as pl

BAR: Final = pl.col("bar")  # position in the history, from 0


def seeded_average(values: pl.Expr, alpha: float, seed: pl.Expr, row: int) -> pl.Expr:
    """Return a_t = (1 - alpha) a_{t-1} + alpha x_t after `row`, a_row = seed, and null before it."""
    started = pl.when(BAR.gt(row)).then(values).when(BAR.eq(row)).then(seed)
    return started.ewm_mean(alpha=alpha, adjust=False)


def exponential_average(values: pl.Expr, length: int, start: int = 0) -> pl.Expr:
    """Return TA-Lib's EMA: alpha = 2 / (length + 1), seeded with the mean of the first `length` values.

    `start` is the first row at which `values` is not null; the result's is start + length - 1.
    """
    seed = values.slice(start, length).mean()
    return seeded_average(values, 2 / (length + 1), seed, start + length - 1)


def wilder_average(values: pl.Expr, length: int, start: int) -> pl.Expr:
    """Return Wilder's average as in TA-Lib's RSI and ATR: alpha = 1 / length, seeded with a mean."""
    seed = values.slice(start, length).mean()
    return seeded_average(values, 1 / length, seed, start + length - 1)


def rolling_total(values: pl.Expr, length: int) -> pl.Expr:
    """Return the rolling sum of values that are not negative: exactly 0 where all of them are.

    A running sum keeps a residue of what has left the window, and the quotient of two residues is noise.
    """
    num_positive = (values > 0).cast(pl.UInt32).rolling_sum(length)
    return pl.when(num_positive == 0).then(0.0).otherwise(values.rolling_sum(length))


def wilder_total(values: pl.Expr, length: int) -> pl.Expr:
    """Return Wilder's running total over `length`, as in TA-Lib's directional movement, divided by `length`.

    TA-Lib adds up rows 1 .. length - 1 (one value short of a whole window), then lets a share of
    1 / length go at each row. The first row it reports is `length`, and so is the first one here.
    """
    seed = values.slice(1, length - 1).sum() / length
    average = seeded_average(values, 1 / length, seed, length - 1)
    return pl.when(BAR.ge(length)).then(average)
