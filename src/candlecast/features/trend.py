"""Trend: where the price stands against its averages, how steep the way there was, and how sure."""

from typing import Final

from polars import col

from candlecast.features.derived import price_ratio
from candlecast.features.history import change, exponential_average, mean, slope, wilder_average
from candlecast.features.indicator import Indicator

TREND: Final = (
    Indicator(
        name="sma_gap_20",
        family="trend",
        expression=col.close / col.close_mean_20 - 1,
        warmup=19,
        unit="fraction of the average",
        formula="close / SMA(close, 20) - 1",
        source="TA-Lib SMA",
    ),
    Indicator(
        name="sma_gap_100",
        family="trend",
        expression=col.close / mean("close", 100) - 1,
        warmup=99,
        unit="fraction of the average",
        formula="close / SMA(close, 100) - 1",
        source="TA-Lib SMA",
    ),
    Indicator(
        name="macd_12_26",
        family="trend",
        expression=col.macd / col.close,
        warmup=25,
        unit="fraction of the close",
        formula="(EMA(close, 12) - EMA(close, 26)) / close, both averages seeded at bar 25",
        source="Appel (1979); TA-Lib MACD",
    ),
    Indicator(
        name="macd_histogram_12_26_9",
        family="trend",
        expression=(col.macd - exponential_average("macd", 9, start=25)) / col.close,
        warmup=33,
        unit="fraction of the close",
        formula="(MACD - EMA(MACD, 9)) / close, MACD = EMA(close, 12) - EMA(close, 26)",
        source="Aspray (1986); TA-Lib MACD",
    ),
    Indicator(
        name="adx_14",
        family="trend",
        expression=wilder_average("directional_index", 14, start=14),
        warmup=27,
        unit="fraction, 0 to 1",
        formula="Wilder average over 14 of |DI+ - DI-| / (DI+ + DI-); the quotient is 0 where nothing moved",
        source="Wilder (1978); TA-Lib ADX / 100",
    ),
    Indicator(
        name="directional_balance_14",
        family="trend",
        expression=price_ratio(col.movement_total_14, col.true_range_total_14, 0.0),
        warmup=14,
        unit="fraction, -1 to 1",
        formula="DI+ - DI-, each a Wilder total over 14 of directional movement by that of the true range; "
        "0 where the range is zero",
        source="Wilder (1978); TA-Lib (PLUS_DI - MINUS_DI) / 100",
    ),
    Indicator(
        name="efficiency_ratio_20",
        family="trend",
        expression=price_ratio(change("close", 20).abs(), col.close_path_20, 0.0),
        warmup=20,
        unit="fraction, 0 to 1",
        formula="|close_t - close_{t-20}| / sum over 20 of |close_t - close_{t-1}|; 0 where it is zero",
        source="Kaufman (1995), Smarter Trading; TA-Lib ER",
    ),
    Indicator(
        name="linear_slope_20",
        family="trend",
        expression=slope("close", 20) / col.close,
        warmup=19,
        unit="fraction of the close a bar",
        formula="least-squares slope of the last 20 closes / close",
        source="TA-Lib LINEARREG_SLOPE",
    ),
)
