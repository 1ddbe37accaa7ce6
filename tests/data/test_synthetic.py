import datetime
import math

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray

from candlecast.data.config import SyntheticConfig
from candlecast.data.source import RAW_BARS
from candlecast.data.synthetic import PERSISTENCE, SyntheticSource, planted_correlation
from candlecast.errors import DataError
from candlecast.schema import check

END = datetime.date(2013, 3, 1)


def _bars(signal: float = 0.0, bars: int = 40, seed: int = 5, ticker: str = "SYN001") -> pl.DataFrame:
    source = SyntheticSource(SyntheticConfig(tickers=3, bars=bars, signal=signal, seed=seed), END)
    return source.fetch(ticker, datetime.date(1900, 1, 1), END).bars


def _momentum_from_bars(close: NDArray[np.float64], signal: float) -> NDArray[np.float64]:
    """Filter momentum out of past closes alone, as a model could: the ARMA(1, 1) turned round."""
    returns = np.diff(np.log(close))
    returns = returns / returns.std()
    remembered, found = 0.0, []
    for value in returns:
        shock = (value - signal * remembered) / math.sqrt(1 - signal**2)
        remembered = PERSISTENCE * remembered + math.sqrt(1 - PERSISTENCE**2) * shock
        found.append(remembered)
    return np.array(found)


@pytest.mark.parametrize("horizon", [1, 5])
@pytest.mark.parametrize("signal", [0.0, 0.1, 0.4])
def test_past_closes_forecast_the_next_return_as_well_as_planted(signal: float, horizon: int) -> None:
    close = _bars(signal, bars=60_000)["close"].to_numpy()
    momentum = _momentum_from_bars(close, signal)[500:-horizon]
    future = np.log(close[horizon:] / close[:-horizon])[501:]
    found = np.corrcoef(momentum, future)[0, 1]
    assert found == pytest.approx(planted_correlation(signal, horizon), abs=0.015 * horizon**0.5)


def test_without_signal_the_returns_are_uncorrelated_at_every_lag() -> None:
    returns = np.diff(np.log(_bars(0.0, bars=40_000)["close"].to_numpy()))
    lags = [np.corrcoef(returns[:-lag], returns[lag:])[0, 1] for lag in range(1, 11)]
    assert np.abs(lags).max() < 4 / math.sqrt(len(returns))


def test_a_plain_moving_average_of_returns_and_the_volume_show_the_signal() -> None:
    bars = _bars(0.3, bars=20_000)
    frame = bars.select(
        (pl.col("close").log() - pl.col("close").log().shift(10)).alias("trend"),
        pl.col("volume").log(),
        (pl.col("close").log().shift(-5) - pl.col("close").log()).alias("future"),
    ).drop_nulls()
    assert frame.select(pl.corr("trend", "future")).item() > 0.35
    assert frame.select(pl.corr("volume", "future")).item() > 0.1


def test_bars_are_ordered_positive_and_within_their_range() -> None:
    bars = check(_bars(0.2, bars=3000), RAW_BARS, "synthetic")
    assert bars["date"].is_sorted()
    assert bars["date"].dt.weekday().max() == 5
    assert bars["date"][-1] == END
    assert bars.select((pl.col("low") > 0).all() & (pl.col("volume") > 0).all()).item()
    assert bars.select((pl.col("high") >= pl.max_horizontal("open", "close")).all()).item()
    assert bars.select((pl.col("low") <= pl.min_horizontal("open", "close")).all()).item()


def test_a_longer_market_begins_like_a_shorter_one() -> None:
    assert _bars(0.2, bars=90).head(40).drop("date").equals(_bars(0.2, bars=40).drop("date"))


def test_the_seed_and_the_number_alone_decide_a_share() -> None:
    assert _bars(seed=5).equals(_bars(seed=5))
    assert not _bars(seed=5).equals(_bars(seed=6))
    assert not _bars(ticker="SYN000").equals(_bars(ticker="SYN001"))


def test_a_weekend_end_gives_the_friday_before() -> None:
    source = SyntheticSource(
        SyntheticConfig(tickers=1, bars=3, signal=0.0, seed=1), datetime.date(2013, 3, 3)
    )
    assert (
        source.fetch("SYN000", datetime.date(1900, 1, 1), datetime.date(2100, 1, 1)).bars["date"][-1] == END
    )


def test_an_unknown_share_is_named_with_what_there_is() -> None:
    with pytest.raises(DataError, match=r"synthetic has no AAPL; it has SYN000 to SYN002"):
        _bars(ticker="AAPL")
