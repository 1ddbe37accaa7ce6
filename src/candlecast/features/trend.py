"""Trend: where the price stands against its averages, how steep the way there was, and how sure."""

from typing import Final

from candlecast.features.derived import (
    CLOSE,
    CLOSE_MEAN_20,
    DIRECTIONAL_INDEX,
    MACD,
    MOVEMENT_BALANCE,
    TRIPLE_AVERAGE,
    TRUE_RANGE,
    range_ratio,
)
from candlecast.features.indicator import Indicator
from candlecast.features.smoothing import exponential_average, wilder_average, wilder_total


def _slope_weights(length: int) -> list[float]:
    """Return w such that the sum of w_k x_k is the least-squares slope of x a bar."""
    middle, spread = (length - 1) / 2, length * (length**2 - 1) / 12
    return [(position - middle) / spread for position in range(length)]


TREND: Final = (
    Indicator(
        name="sma_gap_20",
        family="trend",
        expression=CLOSE / CLOSE_MEAN_20 - 1,
        warmup=19,
        unit="fraction of the average",
        formula="close / SMA(close, 20) - 1",
        source="TA-Lib SMA",
    ),
    Indicator(
        name="sma_gap_100",
        family="trend",
        expression=CLOSE / CLOSE.rolling_mean(100) - 1,
        warmup=99,
        unit="fraction of the average",
        formula="close / SMA(close, 100) - 1",
        source="TA-Lib SMA",
    ),
    Indicator(
        name="macd_12_26",
        family="trend",
        expression=MACD / CLOSE,
        warmup=25,
        unit="fraction of the close",
        formula="(EMA(close, 12) - EMA(close, 26)) / close, both averages seeded at bar 25",
        source="Appel (1979); TA-Lib MACD",
    ),
    Indicator(
        name="macd_histogram_12_26_9",
        family="trend",
        expression=(MACD - exponential_average(MACD, 9, start=25)) / CLOSE,
        warmup=33,
        unit="fraction of the close",
        formula="(MACD - EMA(MACD, 9)) / close, MACD = EMA(close, 12) - EMA(close, 26)",
        source="Aspray (1986); TA-Lib MACD",
    ),
    Indicator(
        name="adx_14",
        family="trend",
        expression=wilder_average(DIRECTIONAL_INDEX, 14, start=14),
        warmup=27,
        unit="fraction, 0 to 1",
        formula="Wilder average over 14 of |DI+ - DI-| / (DI+ + DI-); the quotient is 0 where nothing moved",
        source="Wilder (1978); TA-Lib ADX / 100",
    ),
    Indicator(
        name="directional_balance_14",
        family="trend",
        expression=range_ratio(MOVEMENT_BALANCE, wilder_total(TRUE_RANGE, 14), 0.0),
        warmup=14,
        unit="fraction, -1 to 1",
        formula="DI+ - DI-, each a Wilder total over 14 of directional movement by that of the true range; "
        "0 where the range is zero",
        source="Wilder (1978); TA-Lib (PLUS_DI - MINUS_DI) / 100",
    ),
    Indicator(
        name="trix_15",
        family="trend",
        expression=TRIPLE_AVERAGE / TRIPLE_AVERAGE.shift(1) - 1,
        warmup=43,
        unit="fraction a bar",
        formula="change over one bar of EMA(EMA(EMA(close, 15), 15), 15)",
        source="Hutson (1983); TA-Lib TRIX / 100",
    ),
    Indicator(
        name="linear_slope_20",
        family="trend",
        expression=CLOSE.rolling_sum(20, weights=_slope_weights(20)) / CLOSE,
        warmup=19,
        unit="fraction of the close a bar",
        formula="least-squares slope of the last 20 closes / close",
        source="TA-Lib LINEARREG_SLOPE",
    ),
)
