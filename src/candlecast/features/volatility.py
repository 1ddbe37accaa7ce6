"""Volatility: how wide the bars are, against the price and against their own past."""

from typing import Final

import polars as pl
from polars import col

from candlecast.features.derived import FLAT
from candlecast.features.history import deviation, mean, wilder_average
from candlecast.features.indicator import Indicator


def _band_position() -> pl.Expr:
    position = 0.5 + (col.close - col.close_mean_20) / (4 * col.close_deviation_20)
    return pl.when(col.close_deviation_20 <= FLAT * col.close_mean_20).then(0.5).otherwise(position)


def _deviation_ratio() -> pl.Expr:
    quotient = deviation("log_return", 5) / col.return_deviation_60
    return pl.when(col.return_deviation_60 <= FLAT).then(1.0).otherwise(quotient)


def _downside_share() -> pl.Expr:
    losses = mean("squared_loss", 20)
    stands_still = (col.log_return == 0) & (col.return_deviation_20 == 0)
    squares = (col.log_return_20 / 20) ** 2 + col.return_deviation_20**2
    return pl.when(stands_still).then(0.5).otherwise(losses / squares)


VOLATILITY: Final = (
    Indicator(
        name="true_range",
        family="volatility",
        expression=col.true_range / col.close,
        warmup=1,
        unit="fraction of the close",
        formula="(max(high, previous close) - min(low, previous close)) / close",
        source="Wilder (1978); TA-Lib TRANGE",
    ),
    Indicator(
        name="natr_14",
        family="volatility",
        expression=wilder_average("true_range", 14, start=1) / col.close,
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
        expression=4 * col.close_deviation_20 / col.close_mean_20,
        warmup=19,
        unit="fraction of the average",
        formula="4 deviation_20 / mean_20 of the closes, the population deviation",
        source="Bollinger (2001), BandWidth; TA-Lib BBANDS(20, 2, 2)",
    ),
    Indicator(
        name="return_deviation_20",
        family="volatility",
        expression=col.return_deviation_20,
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
        expression=mean("bar_variance", 20).clip(lower_bound=0).sqrt(),
        warmup=19,
        unit="log-return a bar",
        formula="root of the mean over 20 of log(high / low)^2 / 2 - (2 log 2 - 1) log(close / open)^2",
        source="Garman and Klass (1980), On the estimation of security price volatilities",
    ),
    Indicator(
        name="downside_share_20",
        family="volatility",
        expression=_downside_share(),
        warmup=20,
        unit="fraction, 0 to 1",
        formula="sum over 20 of the squared negative log-returns / that of all; 0.5 where all are zero",
        source="Barndorff-Nielsen, Kinnebrock and Shephard (2010), realised semivariance",
    ),
)
