"""Columns that the indicators are written in: each is computed once, then read by name."""

import math
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
    moved = change("log_close", 1)
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
    # TA-Lib starts both averages at row 25, so the fast one leaves the first 14 rows out.
    return exponential_average("close", 12, start=14) - exponential_average("close", 26)


def _volume_mean() -> pl.Expr:
    # A running mean may keep a residue where nothing traded, and a quotient of two of them is noise.
    nothing_traded = (col.volume == 0) & (col.volume_deviation_20 == 0)
    return pl.when(nothing_traded).then(0.0).otherwise(mean("volume", 20))


def _bar_variance() -> pl.Expr:
    """Return Garman and Klass' estimate of a bar's variance from its range and body."""
    span, body = (col.high / col.low).log(), col.log_close - col.log_open
    return 0.5 * span**2 - (2 * math.log(2) - 1) * body**2


# By name; each reads bars and others of these.
DERIVED: Final[dict[str, pl.Expr]] = {
    # Closes
    "previous_close": lag("close", 1),
    "close_change": col.close - col.previous_close,
    "close_rise": col.close_change.clip(lower_bound=0),
    "close_move": col.close_change.abs(),
    "close_move_average_14": wilder_average("close_move", 14, start=1),
    "close_path_20": total("close_move", 20),
    "close_mean_20": mean("close", 20),
    "close_deviation_20": deviation("close", 20),
    "macd": _macd(),
    # Log-returns
    "log_open": col.open.log(),
    "log_close": col.close.log(),
    "log_return": _log_return(),
    "log_return_20": change("log_close", 20),
    "squared_loss": col.log_return.clip(upper_bound=0) ** 2,
    "return_deviation_20": deviation("log_return", 20),
    "return_deviation_60": deviation("log_return", 60),
    # Bars
    "body": col.close - col.open,
    "body_rise": col.body.clip(lower_bound=0),
    "body_size": col.body.abs(),
    "body_path_14": total("body_size", 14),
    "bar_variance": _bar_variance(),
    "close_location": price_ratio(2 * col.close - col.high - col.low, col.high - col.low, 0.0),
    "low_14": lowest("low", 14),
    "high_14": highest("high", 14),
    "stochastic_14": price_ratio(col.close - col.low_14, col.high_14 - col.low_14, 0.5),
    # Wilder's directional movement
    "true_range": _true_range(),
    "true_range_total_14": wilder_total("true_range", 14),
    "high_change": change("high", 1),
    "low_change": change("low", 1),
    "movement": _directional_movement(),
    "movement_size": col.movement.abs(),
    "movement_total_14": wilder_total("movement", 14),
    "movement_size_total_14": wilder_total("movement_size", 14),
    "directional_index": price_ratio(col.movement_total_14.abs(), col.movement_size_total_14, 0.0),
    # Volume
    "volume_deviation_20": deviation("volume", 20),
    "volume_mean_20": _volume_mean(),
    "close_volume": col.close * col.volume,
    "return_volume": col.log_return * col.volume,
    "signed_volume": col.log_return.sign() * col.volume,
    "located_volume": col.close_location * col.volume,
}
