"""The indicators that TA-Lib defines, as TA-Lib computes them, in the catalogue's units."""

from collections.abc import Callable

import numpy as np
import polars as pl
import talib
from numpy.typing import NDArray

Column = NDArray[np.float64]


class Bars:
    """The columns of one history as arrays, and what TA-Lib's functions make of them."""

    def __init__(self, frame: pl.DataFrame) -> None:
        self.open, self.high, self.low, self.close, self.volume = (
            frame[name].to_numpy().astype(np.float64) for name in ("open", "high", "low", "close", "volume")
        )
        self.hlc = (self.high, self.low, self.close)
        self.log_return = np.concatenate([[np.nan], np.log(talib.ROCR(self.close, 1)[1:])])


def change(values: Column, length: int) -> Column:
    """Return the change over `length` rows, NaN on the first ones."""
    return np.concatenate([np.full(length, np.nan), values[length:] - values[:-length]])


def band_position(bars: Bars) -> Column:
    upper, _, lower = talib.BBANDS(bars.close, 20, 2, 2)
    return (bars.close - lower) / (upper - lower)


def band_width(bars: Bars) -> Column:
    upper, middle, lower = talib.BBANDS(bars.close, 20, 2, 2)
    return (upper - lower) / middle


def close_location(bars: Bars) -> Column:
    # TA-Lib's accumulation adds close location x volume: with a volume of 1 its change is the location.
    accumulation = talib.AD(*bars.hlc, np.ones_like(bars.close))
    return np.concatenate([accumulation[:1], change(accumulation, 1)[1:]])


def on_balance_volume(bars: Bars) -> Column:
    traded = talib.SUM(bars.volume, 20)
    return change(talib.OBV(bars.close, bars.volume), 20) / traded


TALIB: dict[str, Callable[[Bars], Column]] = {
    "sma_gap_20": lambda bars: bars.close / talib.SMA(bars.close, 20) - 1,
    "sma_gap_100": lambda bars: bars.close / talib.SMA(bars.close, 100) - 1,
    "macd_12_26": lambda bars: talib.MACD(bars.close, 12, 26, 9)[0] / bars.close,
    "macd_histogram_12_26_9": lambda bars: talib.MACD(bars.close, 12, 26, 9)[2] / bars.close,
    "adx_14": lambda bars: talib.ADX(*bars.hlc, 14) / 100,
    "directional_balance_14": lambda bars: (
        (talib.PLUS_DI(*bars.hlc, 14) - talib.MINUS_DI(*bars.hlc, 14)) / 100
    ),
    "efficiency_ratio_20": lambda bars: talib.ER(bars.close, 20),
    "linear_slope_20": lambda bars: talib.LINEARREG_SLOPE(bars.close, 20) / bars.close,
    "log_return_1": lambda bars: np.log(talib.ROCR(bars.close, 1)),
    "log_return_5": lambda bars: np.log(talib.ROCR(bars.close, 5)),
    "log_return_20": lambda bars: np.log(talib.ROCR(bars.close, 20)),
    "log_return_60": lambda bars: np.log(talib.ROCR(bars.close, 60)),
    "rsi_14": lambda bars: talib.RSI(bars.close, 14) / 100,
    "stochastic_14_3": lambda bars: talib.STOCH(*bars.hlc, 14, 3, 0, 3, 0)[0] / 100,
    "intraday_momentum_14": lambda bars: talib.IMI(bars.open, bars.close, 14) / 100,
    "true_range": lambda bars: talib.TRANGE(*bars.hlc) / bars.close,
    "natr_14": lambda bars: talib.NATR(*bars.hlc, 14) / 100,
    "bollinger_position_20": band_position,
    "bollinger_width_20": band_width,
    "return_deviation_20": lambda bars: talib.STDDEV(bars.log_return, 20, 1),
    "deviation_ratio_5_60": lambda bars: (
        talib.STDDEV(bars.log_return, 5, 1) / talib.STDDEV(bars.log_return, 60, 1)
    ),
    "volume_score_20": lambda bars: (
        (bars.volume - talib.SMA(bars.volume, 20)) / talib.STDDEV(bars.volume, 20, 1)
    ),
    "volume_oscillator_5_20": lambda bars: talib.PPO(bars.volume, 5, 20, 0) / 100,
    "volume_weighted_gap_20": lambda bars: bars.close / talib.VWMA(bars.close, bars.volume, 20) - 1,
    "chaikin_money_flow_20": lambda bars: talib.CMF(*bars.hlc, bars.volume, 20),
    "on_balance_volume_20": on_balance_volume,
    "volume_return_correlation_20": lambda bars: talib.CORREL(bars.log_return, bars.volume, 20),
    "candle_body": lambda bars: talib.BOP(bars.open, *bars.hlc),
    "close_location": close_location,
}
