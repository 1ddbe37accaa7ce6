"""What runs along one history: lags, windows and averages, none of which reads another history's bars.

Each reads a column by its name: polars evaluates a window again for each mention and arithmetic inside a
group at several times its price, so `candlecast.features.derived` names what goes into a window. They are
written for bars sorted by ticker and date, with the columns `history` (a number) and `bar` (the position
in it, from 0).
"""

import polars as pl
from polars import col


def along_history(values: pl.Expr) -> pl.Expr:
    """Evaluate `values` for each history by itself."""
    return values.over("history")


def lag(column: str, length: int) -> pl.Expr:
    """Return the value `length` bars ago, null where the history has none."""
    return pl.when(col.bar >= length).then(col(column).shift(length))


def change(column: str, length: int) -> pl.Expr:
    """Return the value less the value `length` bars ago, null where the history has none."""
    return col(column) - lag(column, length)


def mean(column: str, length: int) -> pl.Expr:
    """Return the mean of the last `length` values. Where all are zero it may be a rounding residue."""
    return along_history(col(column).rolling_mean(length))


def total(column: str, length: int) -> pl.Expr:
    """Return the sum of the last `length` values. Where all are zero it may be a rounding residue."""
    return along_history(col(column).rolling_sum(length))


def deviation(column: str, length: int) -> pl.Expr:
    """Return the population standard deviation of the last `length` values, exactly 0 if they are equal."""
    return along_history(col(column).rolling_std(length, ddof=0))


def highest(column: str, length: int) -> pl.Expr:
    """Return the largest of the last `length` values."""
    return along_history(col(column).rolling_max(length))


def lowest(column: str, length: int) -> pl.Expr:
    """Return the smallest of the last `length` values."""
    return along_history(col(column).rolling_min(length))


def slope(column: str, length: int) -> pl.Expr:
    """Return the least-squares slope of the last `length` values, a bar."""
    middle, spread = (length - 1) / 2, length * (length**2 - 1) / 12
    weights = [(position - middle) / spread for position in range(length)]
    return along_history(col(column).rolling_sum(length, weights=weights))


def seeded_average(column: str, alpha: float, seed: pl.Expr, row: int) -> pl.Expr:
    """Return a_t = (1 - alpha) a_{t-1} + alpha x_t after `row`, a_row = seed, and null before it.

    Polars' `ewm_mean(adjust=False)` starts at the first value. So the seed stands for all values up to
    its row, where the average of equal values is that value, and nothing is shown before that row.
    """
    started = pl.when(col.bar > row).then(col(column)).otherwise(seed)
    return along_history(started.ewm_mean(alpha=alpha, adjust=False, min_samples=row + 1))


def exponential_average(column: str, length: int, start: int = 0) -> pl.Expr:
    """Return TA-Lib's EMA: alpha = 2 / (length + 1), seeded with the mean of the first `length` values.

    `start` is the first row that counts, and start + length - 1 the first row of the result.
    """
    seed = col(column).slice(start, length).mean()
    return seeded_average(column, 2 / (length + 1), seed, start + length - 1)


def wilder_average(column: str, length: int, start: int) -> pl.Expr:
    """Return Wilder's average as in TA-Lib's RSI and ATR: alpha = 1 / length, seeded with a mean."""
    seed = col(column).slice(start, length).mean()
    return seeded_average(column, 1 / length, seed, start + length - 1)


def wilder_total(column: str, length: int) -> pl.Expr:
    """Return Wilder's running total over `length`, as in TA-Lib's directional movement, divided by `length`.

    TA-Lib adds up rows 1 .. length - 1 (one value short of a whole window), then lets a share of
    1 / length go at each row. The first row it reports is `length`, and so is the first one here.
    """
    seed = col(column).slice(1, length - 1).sum() / length
    average = seeded_average(column, 1 / length, seed, length - 1)
    return pl.when(col.bar >= length).then(average)
