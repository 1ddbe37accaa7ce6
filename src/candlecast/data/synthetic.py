"""A market of random numbers, openly so, with a known amount of predictability planted in it.

Each share is its own. In units of its volatility, with independent standard normal shocks e:

    m[t]   = p * m[t-1] + sqrt(1 - p^2) * e[t]           momentum: a fading memory of past shocks, variance 1
    z[t+1] = s * m[t]   + sqrt(1 - s^2) * e[t+1]         return, variance 1
    log close[t+1] = log close[t] + volatility * z[t+1]

so the correlation of m[t] with the next return is exactly s, `data.synthetic.signal`, and
`planted_correlation` gives it for any horizon. m[t] shows in the bars up to t: it is (this is an
ARMA(1, 1)) a weighted sum of the past returns, and it also lifts the volume. With s = 0 log close is a
pure random walk: nothing in the past says anything about the next return.

Open, high and low follow the return: a fifth of the variance falls overnight, and the day's extremes are
drawn as those of a Brownian bridge from open to close. A row uses its own random numbers and no later
ones, so a longer market has a shorter one as its beginning.
"""

import datetime
import math
from typing import Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from candlecast.data.config import SyntheticConfig
from candlecast.data.source import RAW_BARS, Fetched
from candlecast.errors import UnknownTickerError

PERSISTENCE: Final = 0.9  # p: what momentum keeps from one bar to the next, half of it after 6.6 bars
_OVERNIGHT: Final = 0.2  # part of a day's variance that falls between close and open
_BURN_IN: Final = 200  # bars before the first, so that momentum starts in its steady state


def planted_correlation(signal: float, horizon: int) -> float:
    """Return the correlation of m[t] with the log-return over the next `horizon` bars.

    Cov(m[t], z[t+k]) = s p^(k-1), and the variance of a sum of returns follows from their autocovariance
    s^2 p^j + s sqrt(1 - s^2) sqrt(1 - p^2) p^(j-1) at lag j.
    """
    fresh = signal * math.sqrt(1 - signal**2) * math.sqrt(1 - PERSISTENCE**2)
    covariance = signal * sum(PERSISTENCE**lag for lag in range(horizon))
    variance = float(horizon)
    for lag in range(1, horizon):
        autocovariance = signal**2 * PERSISTENCE**lag + fresh * PERSISTENCE ** (lag - 1)
        variance += 2 * (horizon - lag) * autocovariance
    return covariance / math.sqrt(variance)


class SyntheticSource:
    """Shares SYN000, SYN001, ...: the `bars` weekdays that end at `end`.

    A share depends on the seed and its own number alone, not on how many others there are.
    """

    name = "synthetic"

    def __init__(self, config: SyntheticConfig, end: datetime.date) -> None:
        self._config = config
        last = np.busday_offset(np.datetime64(end), 0, roll="backward")
        self._dates = np.busday_offset(last, np.arange(1 - config.bars, 1))

    def tickers(self) -> tuple[str, ...]:
        """SYN000 and so on, as many as were asked for."""
        return tuple(f"SYN{number:03d}" for number in range(self._config.tickers))

    def packages(self) -> tuple[str, ...]:
        """The generator of the random numbers."""
        return ("numpy",)

    def fetch(self, ticker: str, start: datetime.date, end: datetime.date) -> Fetched:
        """One ticker, both dates inclusive; raises `UnknownTickerError` for one it lacks."""
        known = self.tickers()
        if ticker not in known:
            raise UnknownTickerError(f"synthetic has no {ticker}; it has {known[0]} to {known[-1]}")
        columns = _simulate(self._config, known.index(ticker))
        bars = pl.DataFrame({"date": self._dates, **columns}).cast(RAW_BARS).select(RAW_BARS.names())
        return Fetched(bars=bars.filter(pl.col("date").is_between(start, end)))


def _simulate(config: SyntheticConfig, number: int) -> dict[str, NDArray[np.float64]]:
    generator = np.random.default_rng([config.seed, number])
    volatility = generator.uniform(0.01, 0.025)  # of a day's log-return
    first_price, usual_volume = generator.uniform(20, 200), math.exp(generator.uniform(13, 16))
    shocks = generator.standard_normal((config.bars + _BURN_IN, 3))  # row by row: a prefix stays a prefix
    uniforms = np.random.default_rng([config.seed, number, 1]).random((config.bars, 2))

    momentum, returns = _returns(shocks[:, 0], config.signal)
    momentum, returns, shocks = momentum[_BURN_IN:], returns[_BURN_IN:], shocks[_BURN_IN:]
    overnight = _OVERNIGHT * returns + math.sqrt(_OVERNIGHT * (1 - _OVERNIGHT)) * shocks[:, 1]
    by_day = returns - overnight
    bridge = np.sqrt(by_day**2 - 2 * (1 - _OVERNIGHT) * np.log1p(-uniforms.T))
    close = math.log(first_price) + volatility * np.cumsum(returns)
    opening = close - volatility * by_day
    log_volume = math.log(usual_volume) + 0.3 * shocks[:, 2] + 0.2 * momentum + 0.3 * np.abs(returns)
    return {
        "open": np.exp(opening),
        "high": np.exp(opening + volatility * (by_day + bridge[0]) / 2),
        "low": np.exp(opening + volatility * (by_day - bridge[1]) / 2),
        "close": np.exp(close),
        "adjusted_close": np.exp(close),
        "volume": np.rint(np.exp(log_volume)),
    }


def _returns(shocks: NDArray[np.float64], signal: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return momentum and return of each bar, both of variance 1."""
    momentum, returns = np.zeros_like(shocks), np.zeros_like(shocks)
    fresh, noise = math.sqrt(1 - PERSISTENCE**2), math.sqrt(1 - signal**2)
    remembered = 0.0
    for bar, shock in enumerate(shocks):
        returns[bar] = signal * remembered + noise * shock
        remembered = PERSISTENCE * remembered + fresh * shock
        momentum[bar] = remembered
    return momentum, returns
