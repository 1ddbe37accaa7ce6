"""Columns that the indicators are written in: each is computed once, then read by name."""

from typing import Final

import polars as pl
from polars import col

from candlecast.features.history import (
    change,
    deviation,
    exponential_average,
    highest,
    lag,
    lowest,
    mean,
    seeded_average,
    total,
    wilder_average,
    wilder_total,
)

# A movement below this share of the price is rounding, which adjusted prices are full of: none at all.
FLAT: Final = 1e-9


def price_ratio(numerator: pl.Expr, denominator: pl.Expr, otherwise: float) -> pl.Expr:
    """Return numerator / denominator, a range of prices, or `otherwise` where it is none of the close."""
    return pl.when(denominator <= FLAT * col.close).then(otherwise).otherwise(numerator / denominator)


def volume_ratio(numerator: pl.Expr, denominator: pl.Expr) -> pl.Expr:
    """Return numerator / denominator, a number of shares, or 0 where it is zero."""
    return pl.when(denominator == 0).then(0.0).otherwise(numerator / denominator)


def _log_return() -> pl.Expr:
    moved = change(col.log_close, 1)
    return pl.when(moved.abs() <= FLAT).then(0.0).otherwise(moved)


def _true_range() -> pl.Expr:
    high, low = pl.max_horizontal("high", "previous_close"), pl.min_horizontal("low", "previous_close")
    return pl.when(col.bar >= 1).then(high - low)


def _directional_movement() -> pl.Expr:
    """Return how far the bar reaches outside the last one, above (positive) or below (negative)."""
    up, down, tie = col.high_change, -col.low_change, FLAT * col.close
    rises, falls = (up - down > tie) & (up > 0), (down - up > tie) & (down > 0)
    return pl.when(rises).then(up).when(falls).then(-down).otherwise(0.0)


def _macd() -> pl.Expr:
    # TA-Lib starts both averages at row 25, so the fast one is seeded with rows 14 .. 25.
    fast = seeded_average(col.close, 2 / 13, col.close.slice(14, 12).mean(), row=25)
    return fast - exponential_average(col.close, 26)


def _volume_mean() -> pl.Expr:
    # A running mean may keep a residue where nothing traded, and a quotient of two of them is noise.
    nothing_traded = (col.volume == 0) & (col.volume_deviation_20 == 0)
    return pl.when(nothing_traded).then(0.0).otherwise(mean(col.volume, 20))


# By name; each reads bars and others of these.
DERIVED: Final[dict[str, pl.Expr]] = {
    "previous_close": lag(col.close, 1),
    "close_change": col.close - col.previous_close,
    "close_mean_20": mean(col.close, 20),
    "close_deviation_20": deviation(col.close, 20),
    "close_path_20": total(col.close_change.abs(), 20),
    "macd": _macd(),
    "average_move": wilder_average(col.close_change.abs(), 14, start=1),
    "log_close": col.close.log(),
    "log_open": col.open.log(),
    "log_return": _log_return(),
    "log_return_20": change(col.log_close, 20),
    "return_deviation_20": deviation(col.log_return, 20),
    "return_deviation_60": deviation(col.log_return, 60),
    "low_14": lowest(col.low, 14),
    "high_14": highest(col.high, 14),
    "stochastic_14": price_ratio(col.close - col.low_14, col.high_14 - col.low_14, 0.5),
    "body": col.close - col.open,
    "body_path_14": total(col.body.abs(), 14),
    "close_location": price_ratio(2 * col.close - col.high - col.low, col.high - col.low, 0.0),
    "true_range": _true_range(),
    "average_true_range": wilder_total(col.true_range, 14),
    "high_change": change(col.high, 1),
    "low_change": change(col.low, 1),
    "directional_movement": _directional_movement(),
    "average_movement": wilder_total(col.directional_movement, 14),
    "average_movement_size": wilder_total(col.directional_movement.abs(), 14),
    "directional_index": price_ratio(col.average_movement.abs(), col.average_movement_size, 0.0),
    "volume_deviation_20": deviation(col.volume, 20),
    "volume_mean_20": _volume_mean(),
}
