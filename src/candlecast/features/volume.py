"""Volume and candle shape: who traded, and where in the bar the price came to rest."""

from typing import Final

import polars as pl
from polars import col

from candlecast.features.derived import FLAT, price_ratio, volume_ratio
from candlecast.features.history import mean
from candlecast.features.indicator import Indicator

_volume_is_flat = col.volume_deviation_20 <= FLAT * col.volume_mean_20


def _volume_score() -> pl.Expr:
    score = (col.volume - col.volume_mean_20) / col.volume_deviation_20
    return pl.when(_volume_is_flat).then(0.0).otherwise(score)


def _volume_weighted_gap() -> pl.Expr:
    average = mean("close_volume", 20) / col.volume_mean_20
    return pl.when(col.volume_mean_20 == 0).then(0.0).otherwise(col.close / average - 1)


def _volume_return_correlation() -> pl.Expr:
    covariance = mean("return_volume", 20) - (col.log_return_20 / 20) * col.volume_mean_20
    correlation = covariance / (col.return_deviation_20 * col.volume_deviation_20)
    is_flat = (col.return_deviation_20 <= FLAT) | _volume_is_flat
    return pl.when(is_flat).then(0.0).otherwise(correlation.clip(-1, 1))


VOLUME_AND_SHAPE: Final = (
    Indicator(
        name="volume_score_20",
        family="volume",
        expression=_volume_score(),
        warmup=19,
        unit="population deviations",
        formula="(volume - mean_20) / deviation_20 of the volume; 0 where it does not vary",
        source="TA-Lib SMA and STDDEV",
    ),
    Indicator(
        name="volume_oscillator_5_20",
        family="volume",
        expression=volume_ratio(mean("volume", 5) - col.volume_mean_20, col.volume_mean_20),
        warmup=19,
        unit="fraction of the average",
        formula="SMA(volume, 5) / SMA(volume, 20) - 1; 0 where nothing traded",
        source="TA-Lib PPO(volume, 5, 20) / 100 with simple averages",
    ),
    Indicator(
        name="volume_weighted_gap_20",
        family="volume",
        expression=_volume_weighted_gap(),
        warmup=19,
        unit="fraction of the average",
        formula="close / VWMA(20) - 1, the closes' average weighted by volume; 0 where nothing traded",
        source="TA-Lib VWMA",
    ),
    Indicator(
        name="chaikin_money_flow_20",
        family="volume",
        expression=volume_ratio(mean("located_volume", 20), col.volume_mean_20),
        warmup=19,
        unit="fraction, -1 to 1",
        formula="sum over 20 of close location x volume / that of the volume; 0 where nothing traded",
        source="Chaikin; TA-Lib CMF, and the change over 20 bars of AD by the volume traded",
    ),
    Indicator(
        name="on_balance_volume_20",
        family="volume",
        expression=volume_ratio(mean("signed_volume", 20), col.volume_mean_20),
        warmup=20,
        unit="fraction, -1 to 1",
        formula="sum over 20 of volume signed by the close's change / of the volume; 0 where nothing traded",
        source="Granville (1963); the change over 20 bars of TA-Lib OBV by the volume traded",
    ),
    Indicator(
        name="volume_return_correlation_20",
        family="volume",
        expression=_volume_return_correlation(),
        warmup=20,
        unit="correlation, -1 to 1",
        formula="correlation of volume and one-bar log-return over 20 bars; 0 where either does not vary",
        source="Karpoff (1987), The relation between price changes and trading volume; TA-Lib CORREL",
    ),
    Indicator(
        name="candle_body",
        family="volume",
        expression=price_ratio(col.body, col.high - col.low, 0.0),
        warmup=0,
        unit="fraction of the bar's range, -1 to 1",
        formula="(close - open) / (high - low); 0 where they are equal",
        source="Livshin (2001); TA-Lib BOP",
    ),
    Indicator(
        name="close_location",
        family="volume",
        expression=col.close_location,
        warmup=0,
        unit="fraction of the bar's half range, -1 at the low and 1 at the high",
        formula="(2 close - high - low) / (high - low); 0 where they are equal",
        source="Chaikin; the change of TA-Lib AD by the volume",
    ),
)
