"""Volatility: how wide the bars are, against the price and against their own past."""

import math
from typing import Final

import polars as pl

from candlecast.features.derived import (
    CLOSE,
    CLOSE_DEVIATION_20,
    CLOSE_MEAN_20,
    FLAT,
    HIGH,
    LOG_RETURN,
    LOW,
    OPEN,
    RETURN_DEVIATION_20,
    TRUE_RANGE,
    ratio,
)
from candlecast.features.indicator import Indicator
from candlecast.features.smoothing import rolling_total, wilder_average


def _band_position() -> pl.Expr:
    position = 0.5 + (CLOSE - CLOSE_MEAN_20) / (4 * CLOSE_DEVIATION_20)
    return pl.when(CLOSE_DEVIATION_20 <= FLAT * CLOSE_MEAN_20).then(0.5).otherwise(position)


def _deviation_ratio() -> pl.Expr:
    long = LOG_RETURN.rolling_std(60, ddof=0)
    return pl.when(long <= FLAT).then(1.0).otherwise(LOG_RETURN.rolling_std(5, ddof=0) / long)


def _garman_klass(length: int) -> pl.Expr:
    bar_variance = 0.5 * (HIGH / LOW).log() ** 2 - (2 * math.log(2) - 1) * (CLOSE / OPEN).log() ** 2
    return bar_variance.rolling_mean(length).clip(lower_bound=0).sqrt()


def _downside_share(length: int) -> pl.Expr:
    losses = LOG_RETURN.clip(upper_bound=0) ** 2
    return ratio(losses.rolling_sum(length), rolling_total(LOG_RETURN**2, length), 0.5)


VOLATILITY: Final = (
    Indicator(
        name="true_range",
        family="volatility",
        expression=TRUE_RANGE / CLOSE,
        warmup=1,
        unit="fraction of the close",
        formula="(max(high, previous close) - min(low, previous close)) / close",
        source="Wilder (1978); TA-Lib TRANGE",
    ),
    Indicator(
        name="natr_14",
        family="volatility",
        expression=wilder_average(TRUE_RANGE, 14, start=1) / CLOSE,
        warmup=14,
        unit="fraction of the close",
        formula="Wilder average over 14 of the true range / close",
        source="Wilder (1978); TA-Lib NATR / 100",
    ),
    Indicator(
        name="bollinger_position_20",
        family="volatility",
        expression=_band_position(),
        warmup=19,
        unit="fraction of the band's width, 0 at the lower edge and 1 at the upper",
        formula="0.5 + (close - mean_20) / (4 deviation_20), the population deviation; 0.5 where it is zero",
        source="Bollinger (2001), %b; TA-Lib BBANDS(20, 2, 2)",
    ),
    Indicator(
        name="bollinger_width_20",
        family="volatility",
        expression=4 * CLOSE_DEVIATION_20 / CLOSE_MEAN_20,
        warmup=19,
        unit="fraction of the average",
        formula="4 deviation_20 / mean_20 of the closes, the population deviation",
        source="Bollinger (2001), BandWidth; TA-Lib BBANDS(20, 2, 2)",
    ),
    Indicator(
        name="return_deviation_20",
        family="volatility",
        expression=RETURN_DEVIATION_20,
        warmup=20,
        unit="log-return a bar",
        formula="population deviation of the last 20 one-bar log-returns",
        source="TA-Lib STDDEV",
    ),
    Indicator(
        name="deviation_ratio_5_60",
        family="volatility",
        expression=_deviation_ratio(),
        warmup=60,
        unit="ratio",
        formula="population deviation of the last 5 log-returns / of the last 60; 1 where the latter is zero",
        source="TA-Lib STDDEV",
    ),
    Indicator(
        name="garman_klass_20",
        family="volatility",
        expression=_garman_klass(20),
        warmup=19,
        unit="log-return a bar",
        formula="root of the mean over 20 of log(high / low)^2 / 2 - (2 log 2 - 1) log(close / open)^2",
        source="Garman and Klass (1980), On the estimation of security price volatilities",
    ),
    Indicator(
        name="downside_share_20",
        family="volatility",
        expression=_downside_share(20),
        warmup=20,
        unit="fraction, 0 to 1",
        formula="sum over 20 of the squared negative log-returns / that of all; 0.5 where all are zero",
        source="Barndorff-Nielsen, Kinnebrock and Shephard (2010), realised semivariance",
    ),
)
