"""Volume and candle shape: who traded, and where in the bar the price came to rest."""

from typing import Final

import polars as pl

from candlecast.features.derived import (
    CLOSE,
    CLOSE_LOCATION,
    FLAT,
    HIGH,
    LOG_RETURN,
    LOW,
    OPEN,
    RETURN_DEVIATION_20,
    VOLUME,
    VOLUME_DEVIATION_20,
    VOLUME_MEAN_20,
    range_ratio,
    ratio,
)
from candlecast.features.indicator import Indicator
from candlecast.features.smoothing import rolling_total

_volume_is_flat = VOLUME_DEVIATION_20 <= FLAT * VOLUME_MEAN_20


def _volume_score() -> pl.Expr:
    score = (VOLUME - VOLUME_MEAN_20) / VOLUME_DEVIATION_20
    return pl.when(_volume_is_flat).then(0.0).otherwise(score)


def _money_flow_index(length: int) -> pl.Expr:
    typical = (HIGH + LOW + CLOSE) / 3
    change, flow, tie = typical.diff(), typical * VOLUME, FLAT * CLOSE
    rising = pl.when(change > tie).then(flow).otherwise(0.0)
    moving = (
        pl.when(change.abs() > tie).then(flow).when(change.abs() <= tie).then(0.0)
    )  # null on the first bar
    return ratio(rising.rolling_sum(length), rolling_total(moving, length), 0.5)


def _volume_return_correlation() -> pl.Expr:
    covariance = (LOG_RETURN * VOLUME).rolling_mean(20) - LOG_RETURN.rolling_mean(20) * VOLUME_MEAN_20
    correlation = covariance / (RETURN_DEVIATION_20 * VOLUME_DEVIATION_20)
    is_flat = (RETURN_DEVIATION_20 <= FLAT) | _volume_is_flat
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
        expression=ratio(VOLUME.rolling_mean(5), VOLUME_MEAN_20, 1.0) - 1,
        warmup=19,
        unit="fraction of the average",
        formula="SMA(volume, 5) / SMA(volume, 20) - 1; 0 where nothing traded",
        source="TA-Lib PPO(volume, 5, 20) / 100 with simple averages",
    ),
    Indicator(
        name="money_flow_index_14",
        family="volume",
        expression=_money_flow_index(14),
        warmup=14,
        unit="fraction, 0 to 1",
        formula="sum over 14 of typical price x volume on rising bars / that on rising and falling bars, "
        "by the typical price (high + low + close) / 3; 0.5 where there is none",
        source="Quong and Soudack (1989); TA-Lib MFI / 100",
    ),
    Indicator(
        name="chaikin_money_flow_20",
        family="volume",
        expression=ratio((CLOSE_LOCATION * VOLUME).rolling_mean(20), VOLUME_MEAN_20, 0.0),
        warmup=19,
        unit="fraction, -1 to 1",
        formula="sum over 20 of close location x volume / that of the volume; 0 where nothing traded",
        source="Chaikin; TA-Lib CMF, and the change over 20 bars of AD by the volume traded",
    ),
    Indicator(
        name="on_balance_volume_20",
        family="volume",
        expression=ratio((LOG_RETURN.sign() * VOLUME).rolling_mean(20), VOLUME_MEAN_20, 0.0),
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
        expression=range_ratio(CLOSE - OPEN, HIGH - LOW, 0.0),
        warmup=0,
        unit="fraction of the bar's range, -1 to 1",
        formula="(close - open) / (high - low); 0 where they are equal",
        source="Livshin (2001); TA-Lib BOP",
    ),
    Indicator(
        name="close_location",
        family="volume",
        expression=CLOSE_LOCATION,
        warmup=0,
        unit="fraction of the bar's half range, -1 at the low and 1 at the high",
        formula="(2 close - high - low) / (high - low); 0 where they are equal",
        source="Chaikin; the change of TA-Lib AD by the volume",
    ),
)
