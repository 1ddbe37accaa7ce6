"""Momentum: how far and how one-sidedly the price has moved."""

from typing import Final

from polars import col

from candlecast.features.derived import price_ratio
from candlecast.features.history import change, lag, mean, total, wilder_average
from candlecast.features.indicator import Indicator

MOMENTUM: Final = (
    Indicator(
        name="log_return_1",
        family="momentum",
        expression=col.log_return,
        warmup=1,
        unit="log-return",
        formula="log(close_t / close_{t-1})",
        source="TA-Lib log(ROCR)",
    ),
    Indicator(
        name="log_return_5",
        family="momentum",
        expression=change("log_close", 5),
        warmup=5,
        unit="log-return",
        formula="log(close_t / close_{t-5})",
        source="TA-Lib log(ROCR)",
    ),
    Indicator(
        name="log_return_20",
        family="momentum",
        expression=col.log_return_20,
        warmup=20,
        unit="log-return",
        formula="log(close_t / close_{t-20})",
        source="TA-Lib log(ROCR)",
    ),
    Indicator(
        name="log_return_60",
        family="momentum",
        expression=change("log_close", 60),
        warmup=60,
        unit="log-return",
        formula="log(close_t / close_{t-60})",
        source="TA-Lib log(ROCR)",
    ),
    Indicator(
        name="overnight_return",
        family="momentum",
        expression=col.log_open - lag("log_close", 1),
        warmup=1,
        unit="log-return",
        formula="log(open_t / close_{t-1})",
        source="Lou, Polk and Skouras (2019), A tug of war: overnight versus intraday expected returns",
    ),
    Indicator(
        name="rsi_14",
        family="momentum",
        expression=price_ratio(wilder_average("close_rise", 14, start=1), col.close_move_average_14, 0.5),
        warmup=14,
        unit="fraction, 0 to 1",
        formula="G / (G + L), Wilder averages over 14 of gains and losses; 0.5 where both are zero",
        source="Wilder (1978); TA-Lib RSI / 100",
    ),
    Indicator(
        name="stochastic_14_3",
        family="momentum",
        expression=mean("stochastic_14", 3),
        warmup=15,
        unit="fraction, 0 to 1",
        formula="SMA over 3 of (close - low_14) / (high_14 - low_14), the extremes of 14 bars; "
        "the quotient is 0.5 where they are equal",
        source="Lane (1984); TA-Lib STOCH slow %K / 100",
    ),
    Indicator(
        name="intraday_momentum_14",
        family="momentum",
        expression=price_ratio(total("body_rise", 14), col.body_path_14, 0.5),
        warmup=13,
        unit="fraction, 0 to 1",
        formula="sum over 14 of close - open on rising bars / that of |close - open|; 0.5 where it is zero",
        source="Chande and Kroll (1994), The New Technical Trader; TA-Lib IMI / 100",
    ),
)
