"""About 32 indicators of the same kinds as the catalogue's, in the way each peer's users write them.

Peers give raw outputs (an average, a band), not scale-free ones, and check nothing: that favours them.
Those that are not installed are left out.
"""

from collections.abc import Callable
from importlib.util import find_spec

import numpy as np
import pandas as pd
import polars as pl
import talib

Peer = Callable[[pl.DataFrame, pd.DataFrame], object]


def talib_outputs(history: pd.DataFrame) -> pd.DataFrame:
    names = ("open", "high", "low", "close", "volume")
    opening, high, low, close, volume = (history[name].to_numpy() for name in names)
    hlc = (high, low, close)
    macd, signal, histogram = talib.MACD(close, 12, 26, 9)
    upper, middle, lower = talib.BBANDS(close, 20, 2, 2)
    outputs = {
        "sma_20": middle,
        "sma_100": talib.SMA(close, 100),
        "macd": macd,
        "macd_signal": signal,
        "macd_histogram": histogram,
        "adx": talib.ADX(*hlc, 14),
        "plus_di": talib.PLUS_DI(*hlc, 14),
        "minus_di": talib.MINUS_DI(*hlc, 14),
        "er": talib.ER(close, 20),
        "slope": talib.LINEARREG_SLOPE(close, 20),
        "rocr_1": talib.ROCR(close, 1),
        "rocr_5": talib.ROCR(close, 5),
        "rocr_20": talib.ROCR(close, 20),
        "rsi": talib.RSI(close, 14),
        "stochastic": talib.STOCH(*hlc, 14, 3, 0, 3, 0)[0],
        "imi": talib.IMI(opening, close, 14),
        "rocr_60": talib.ROCR(close, 60),
        "trange": talib.TRANGE(*hlc),
        "natr": talib.NATR(*hlc, 14),
        "upper": upper,
        "lower": lower,
        "stddev_5": talib.STDDEV(close, 5),
        "stddev_20": talib.STDDEV(close, 20),
        "stddev_60": talib.STDDEV(close, 60),
        "volume_mean": talib.SMA(volume, 20),
        "volume_deviation": talib.STDDEV(volume, 20),
        "volume_ppo": talib.PPO(volume, 5, 20, 0),
        "vwma": talib.VWMA(close, volume, 20),
        "cmf": talib.CMF(*hlc, volume, 20),
        "obv": talib.OBV(close, volume),
        "correl": talib.CORREL(close, volume, 20),
        "bop": talib.BOP(opening, *hlc),
    }
    return pd.DataFrame(outputs, index=history.index).astype(np.float32)


def talib_features(history: pd.DataFrame) -> pd.DataFrame:
    """The catalogue's own 32, scale-free, as one would write them with TA-Lib and numpy."""
    names = ("open", "high", "low", "close", "volume")
    opening, high, low, close, volume = (history[name].to_numpy() for name in names)
    hlc = (high, low, close)
    log_close = np.log(close)
    log_return = np.diff(log_close, prepend=np.nan)
    macd, _, histogram = talib.MACD(close, 12, 26, 9)
    upper, middle, lower = talib.BBANDS(close, 20, 2, 2)
    squared_loss, squares = np.minimum(log_return, 0) ** 2, log_return**2
    variance = 0.5 * np.log(high / low) ** 2 - (2 * np.log(2) - 1) * np.log(close / opening) ** 2
    volume_mean, traded = talib.SMA(volume, 20), talib.SUM(volume, 20)
    outputs = {
        "sma_gap_20": close / middle - 1,
        "sma_gap_100": close / talib.SMA(close, 100) - 1,
        "macd_12_26": macd / close,
        "macd_histogram_12_26_9": histogram / close,
        "adx_14": talib.ADX(*hlc, 14) / 100,
        "directional_balance_14": (talib.PLUS_DI(*hlc, 14) - talib.MINUS_DI(*hlc, 14)) / 100,
        "efficiency_ratio_20": talib.ER(close, 20),
        "linear_slope_20": talib.LINEARREG_SLOPE(close, 20) / close,
        "log_return_1": log_return,
        **{f"log_return_{lag}": log_close - shifted(log_close, lag) for lag in (5, 20, 60)},
        "overnight_return": np.log(opening / shifted(close, 1)),
        "rsi_14": talib.RSI(close, 14) / 100,
        "stochastic_14_3": talib.STOCH(*hlc, 14, 3, 0, 3, 0)[0] / 100,
        "intraday_momentum_14": talib.IMI(opening, close, 14) / 100,
        "true_range": talib.TRANGE(*hlc) / close,
        "natr_14": talib.NATR(*hlc, 14) / 100,
        "bollinger_position_20": (close - lower) / (upper - lower),
        "bollinger_width_20": (upper - lower) / middle,
        "return_deviation_20": talib.STDDEV(log_return, 20),
        "deviation_ratio_5_60": talib.STDDEV(log_return, 5) / talib.STDDEV(log_return, 60),
        "garman_klass_20": np.sqrt(talib.SMA(variance, 20)),
        "downside_share_20": talib.SUM(squared_loss, 20) / talib.SUM(squares, 20),
        "volume_score_20": (volume - volume_mean) / talib.STDDEV(volume, 20),
        "volume_oscillator_5_20": talib.SMA(volume, 5) / volume_mean - 1,
        "volume_weighted_gap_20": close / talib.VWMA(close, volume, 20) - 1,
        "chaikin_money_flow_20": talib.CMF(*hlc, volume, 20),
        "on_balance_volume_20": talib.SUM(np.sign(log_return) * volume, 20) / traded,
        "volume_return_correlation_20": talib.CORREL(log_return, volume, 20),
        "candle_body": talib.BOP(opening, *hlc),
        "close_location": (2 * close - high - low) / (high - low),
    }
    return pd.DataFrame(outputs, index=history.index).astype(np.float32)


def shifted(values: np.ndarray, lag: int) -> np.ndarray:
    return np.concatenate([np.full(lag, np.nan), values[:-lag]])


def talib_same_groupby(_: pl.DataFrame, bars: pd.DataFrame) -> pd.DataFrame:
    columns = bars.groupby("ticker", sort=False, group_keys=False)[["open", "high", "low", "close", "volume"]]
    return columns.apply(talib_features)


def talib_groupby(_: pl.DataFrame, bars: pd.DataFrame) -> object:
    columns = bars.groupby("ticker", sort=False, group_keys=False)[["open", "high", "low", "close", "volume"]]
    return columns.apply(talib_outputs)


def polars_talib_over(bars: pl.DataFrame, _: pd.DataFrame) -> object:
    import polars_talib as plta

    opening, close, volume = pl.col("open"), pl.col("close"), pl.col("volume")
    hlc = (pl.col("high"), pl.col("low"), close)
    bands = plta.bbands(close, timeperiod=20)
    macd = plta.macd(close, fastperiod=12, slowperiod=26, signalperiod=9)
    outputs = [
        plta.sma(close, timeperiod=20),
        plta.sma(close, timeperiod=100),
        *(macd.struct.field(name) for name in ("macd", "macdsignal", "macdhist")),
        plta.adx(*hlc, timeperiod=14),
        plta.plus_di(*hlc, timeperiod=14),
        plta.minus_di(*hlc, timeperiod=14),
        plta.er(close, timeperiod=20),
        plta.linearreg_slope(close, timeperiod=20),
        *(plta.rocr(close, timeperiod=length) for length in (1, 5, 20)),
        plta.rsi(close, timeperiod=14),
        plta.stoch(*hlc, fastk_period=14, slowk_period=3, slowd_period=3).struct.field("slowk"),
        plta.imi(opening, close, timeperiod=14),
        plta.rocr(close, timeperiod=60),
        plta.trange(*hlc),
        plta.natr(*hlc, timeperiod=14),
        bands.struct.field("upperband"),
        bands.struct.field("lowerband"),
        *(plta.stddev(close, timeperiod=length) for length in (5, 20, 60)),
        plta.sma(volume, timeperiod=20),
        plta.stddev(volume, timeperiod=20),
        plta.ppo(volume, fastperiod=5, slowperiod=20),
        plta.vwma(close, volume, timeperiod=20),
        plta.cmf(*hlc, volume, timeperiod=20),
        plta.obv(close, volume),
        plta.correl(close, volume, timeperiod=20),
        plta.bop(opening, *hlc),
    ]
    return bars.select(
        output.over("ticker").cast(pl.Float32).alias(str(index)) for index, output in enumerate(outputs)
    )


def polars_ta_over(bars: pl.DataFrame, _: pd.DataFrame) -> object:
    from polars_ta import ta

    close, volume = pl.col("close"), pl.col("volume")
    hlc = (pl.col("high"), pl.col("low"), close)
    outputs = [
        ta.SMA(close, 20),
        ta.SMA(close, 100),
        *(ta.MACD(close).struct.field(name) for name in ("macd", "macdsignal", "macdhist")),
        *(ta.BBANDS(close, 20).struct.field(name) for name in ("upperband", "lowerband")),
        *(ta.STOCHF(*hlc, 14, 3).struct.field(name) for name in ("fastk", "fastd")),
        *(ta.ROCR(close, length) for length in (1, 5, 20)),
        ta.RSI(close, 14),
        ta.ROCR(close, 60),
        ta.TRANGE(*hlc),
        ta.NATR(*hlc, 14),
        *(ta.STDDEV(close, length) for length in (5, 20, 60)),
        ta.SMA(volume, 20),
        ta.STDDEV(volume, 20),
        ta.PPO(volume, 5, 20),
        ta.OBV(close, volume),
        ta.CORREL(close, volume, 20),
        ta.TRIX(close, 15),
    ]
    return bars.select(
        output.over("ticker").cast(pl.Float32).alias(str(index)) for index, output in enumerate(outputs)
    )


def ta_outputs(history: pd.DataFrame) -> pd.DataFrame:
    import ta

    opening, high, low, close, volume = (history[name] for name in ("open", "high", "low", "close", "volume"))
    macd, adx = ta.trend.MACD(close), ta.trend.ADXIndicator(high, low, close)
    bands = ta.volatility.BollingerBands(close)
    outputs = {
        "sma_20": bands.bollinger_mavg(),
        "sma_100": ta.trend.sma_indicator(close, 100),
        "macd": macd.macd(),
        "macd_signal": macd.macd_signal(),
        "macd_histogram": macd.macd_diff(),
        "adx": adx.adx(),
        "plus_di": adx.adx_pos(),
        "minus_di": adx.adx_neg(),
        "trix": ta.trend.trix(close),
        **{f"roc_{length}": ta.momentum.roc(close, length) for length in (1, 5, 20)},
        "rsi": ta.momentum.rsi(close),
        "stochastic": ta.momentum.stoch_signal(high, low, close),
        "ultimate": ta.momentum.ultimate_oscillator(high, low, close),
        "willr": ta.momentum.williams_r(high, low, close, 60),
        "atr": ta.volatility.average_true_range(high, low, close),
        "upper": bands.bollinger_hband(),
        "lower": bands.bollinger_lband(),
        "position": bands.bollinger_pband(),
        "width": bands.bollinger_wband(),
        "ulcer": ta.volatility.ulcer_index(close),
        "volume_ppo": ta.momentum.pvo(volume),
        "mfi": ta.volume.money_flow_index(high, low, close, volume),
        "cmf": ta.volume.chaikin_money_flow(high, low, close, volume),
        "obv": ta.volume.on_balance_volume(close, volume),
        "force": ta.volume.force_index(close, volume),
        "ease": ta.volume.ease_of_movement(high, low, volume),
        "price_trend": ta.volume.volume_price_trend(close, volume),
        "body": close - opening,
    }
    return pd.DataFrame(outputs, index=history.index).astype(np.float32)


def ta_groupby(_: pl.DataFrame, bars: pd.DataFrame) -> object:
    columns = bars.groupby("ticker", sort=False, group_keys=False)[["open", "high", "low", "close", "volume"]]
    return columns.apply(ta_outputs)


def installed_peers() -> dict[str, Peer]:
    """Return the peers that can be imported, by what they are."""
    peers: dict[str, tuple[str, Peer]] = {
        "TA-Lib, pandas groupby, the same 32": ("talib", talib_same_groupby),
        "TA-Lib, pandas groupby, 32 raw outputs": ("talib", talib_groupby),
        "polars_talib, over, 32 raw outputs": ("polars_talib", polars_talib_over),
        "polars_ta, over, 25 raw outputs": ("polars_ta", polars_ta_over),
        "ta, pandas groupby, 28 raw outputs": ("ta", ta_groupby),
    }
    return {name: run for name, (module, run) in peers.items() if find_spec(module)}
