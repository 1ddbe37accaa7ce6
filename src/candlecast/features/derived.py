"""Columns that the indicators are written in: each is computed once for a history, then read by name.

A rolling pass that several indicators need is made once, and no average is taken of an average inside
one expression, which polars would evaluate again for each mention.
"""

from typing import Final

import polars as pl

from candlecast.features.smoothing import exponential_average, rolling_total, seeded_average, wilder_total

# A movement below this share of the level is rounding, which adjusted prices are full of, and counts as none.
FLAT: Final = 1e-9

OPEN: Final = pl.col("open")
HIGH: Final = pl.col("high")
LOW: Final = pl.col("low")
CLOSE: Final = pl.col("close")
VOLUME: Final = pl.col("volume")

PREVIOUS_CLOSE: Final = pl.col("previous_close")
CLOSE_CHANGE: Final = pl.col("close_change")
CLOSE_MEAN_20: Final = pl.col("close_mean_20")
CLOSE_DEVIATION_20: Final = pl.col("close_deviation_20")
CLOSE_LOCATION: Final = pl.col("close_location")
LOG_CLOSE: Final = pl.col("log_close")
LOG_RETURN: Final = pl.col("log_return")
RETURN_DEVIATION_20: Final = pl.col("return_deviation_20")
TRUE_RANGE: Final = pl.col("true_range")
VOLUME_MEAN_20: Final = pl.col("volume_mean_20")
VOLUME_DEVIATION_20: Final = pl.col("volume_deviation_20")
MACD: Final = pl.col("macd")
MOVEMENT: Final = pl.col("directional_movement")
MOVEMENT_SIZE: Final = pl.col("directional_movement_size")
MOVEMENT_BALANCE: Final = pl.col("directional_movement_balance")
DIRECTIONAL_INDEX: Final = pl.col("directional_index")
TRIPLE_AVERAGE: Final = pl.col("triple_average")


def ratio(numerator: pl.Expr, denominator: pl.Expr, otherwise: float) -> pl.Expr:
    """Return numerator / denominator, or `otherwise` where the denominator is zero."""
    return pl.when(denominator == 0).then(otherwise).otherwise(numerator / denominator)


def range_ratio(numerator: pl.Expr, price_range: pl.Expr, otherwise: float) -> pl.Expr:
    """Return numerator / price_range, or `otherwise` where the range is none of the close."""
    return pl.when(price_range <= FLAT * CLOSE).then(otherwise).otherwise(numerator / price_range)


def _log_return() -> pl.Expr:
    change = LOG_CLOSE.diff()
    return pl.when(change.abs() <= FLAT).then(0.0).otherwise(change)


def _true_range() -> pl.Expr:
    high, low = pl.max_horizontal(HIGH, PREVIOUS_CLOSE), pl.min_horizontal(LOW, PREVIOUS_CLOSE)
    return pl.when(PREVIOUS_CLOSE.is_not_null()).then(high - low)  # null on the first bar


def _directional_movement() -> pl.Expr:
    """Return how far the bar reaches outside the last one, above (positive) or below (negative)."""
    up, down, tie = HIGH.diff(), -LOW.diff(), FLAT * CLOSE
    rises, falls = (up - down > tie) & (up > 0), (down - up > tie) & (down > 0)
    return pl.when(rises).then(up).when(falls).then(-down).otherwise(0.0)


def _macd() -> pl.Expr:
    # TA-Lib starts both averages at row 25, so the fast one is seeded with rows 14 .. 25.
    fast = seeded_average(CLOSE, 2 / 13, CLOSE.slice(14, 12).mean(), row=25)
    return fast - exponential_average(CLOSE, 26)


# Each reads bars and the columns before it.
DERIVED: Final = (
    pl.int_range(pl.len()).alias("bar"),
    CLOSE.shift(1).alias("previous_close"),
    CLOSE.diff().alias("close_change"),
    CLOSE.log().alias("log_close"),
    CLOSE.rolling_mean(20).alias("close_mean_20"),
    CLOSE.rolling_std(20, ddof=0).alias("close_deviation_20"),
    (rolling_total(VOLUME, 20) / 20).alias("volume_mean_20"),
    VOLUME.rolling_std(20, ddof=0).alias("volume_deviation_20"),
    range_ratio(2 * CLOSE - HIGH - LOW, HIGH - LOW, 0.0).alias("close_location"),
    _log_return().alias("log_return"),
    LOG_RETURN.rolling_std(20, ddof=0).alias("return_deviation_20"),
    _true_range().alias("true_range"),
    _directional_movement().alias("directional_movement"),
    MOVEMENT.abs().alias("directional_movement_size"),
    wilder_total(MOVEMENT, 14).alias("directional_movement_balance"),
    range_ratio(MOVEMENT_BALANCE.abs(), wilder_total(MOVEMENT_SIZE, 14), 0.0).alias("directional_index"),
    _macd().alias("macd"),
    exponential_average(CLOSE, 15).alias("single_average"),
    exponential_average(pl.col("single_average"), 15, start=14).alias("double_average"),
    exponential_average(pl.col("double_average"), 15, start=28).alias("triple_average"),
)
