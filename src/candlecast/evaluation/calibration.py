"""Are the tests honest on a span of this shape? Each is tried on simulated markets whose truth is known.

A market has the test span's days, tickers and horizon, its correlation between tickers, and forecasts as
persistent as the network's. Without skill a test at 5 % should reject 5 % of the time; with a planted
directional accuracy the share it rejects is its power.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
import polars as pl
import scipy
from numpy.typing import NDArray

from candlecast.evaluation import significance as sig
from candlecast.evaluation.bootstrap import Interval, day_counts, percentile_interval, widening
from candlecast.evaluation.config import EvaluateConfig
from candlecast.evaluation.correlation import daily_coefficients
from candlecast.evaluation.evidence import LEVEL

Floats = NDArray[np.float64]

PLANTED_ACCURACY: Final = 0.55  # at which power is shown; 0.5 is no skill
_SETTLING: Final = 200  # days before the first, in which persistent forecasts forget their start
_POWER_MARKETS: Final = 400


@dataclass(frozen=True, slots=True)
class Shape:
    """What of a test span decides how a test behaves on it."""

    days: int
    tickers: int
    horizon: int
    block: int  # days drawn together by the bootstrap
    correlation: float  # mean, between two tickers' outcomes on a day
    persistence: float  # of a ticker's forecasts from one day to the next


@dataclass(frozen=True, slots=True)
class Calibrated:
    """How often a test rejects at 5 %, with the Monte-Carlo interval of 95 %."""

    test: str
    size: float  # without skill
    size_interval: Interval
    power: float  # at `PLANTED_ACCURACY`
    power_interval: Interval


@dataclass(frozen=True, slots=True)
class Power:
    """What directional accuracy a span of this shape can tell from one half."""

    standard_error: float  # of the accuracy of calls without skill
    detectable_accuracy: float  # found four times in five by a one-sided test at 5 %


@dataclass(frozen=True, slots=True)
class Market:
    """Simulated outcomes and forecasts, each [days, tickers], in standard deviations."""

    realised: Floats
    forecast: Floats
    rival: Floats  # as noisy as `forecast` and never skilled


def shape_of(frame: pl.DataFrame, horizon: int, block: int) -> Shape:
    """Measure one model's forecasts of one part."""
    realised, probability = (
        frame.pivot("ticker", index="date", values=name).sort("date").drop("date").to_numpy()
        for name in ("realised_return", "probability_up")
    )
    lagged = [_correlation(column[1:], column[:-1]) for column in probability.T]
    pairs = [
        _correlation(realised[:, left], realised[:, right])
        for left in range(realised.shape[1])
        for right in range(left)
    ]
    return Shape(
        days=len(realised),
        tickers=realised.shape[1],
        horizon=horizon,
        block=block,
        correlation=float(np.clip(np.mean(pairs), 0, 1)) if pairs else 0.0,
        persistence=float(np.clip(np.mean(lagged), 0, 0.99)),
    )


def simulate(shape: Shape, accuracy: float, generator: np.random.Generator) -> Market:
    """Return a market in which the forecast has this expected directional accuracy, tickers alike.

    For two standard normals of correlation s the signs agree with probability 1/2 + asin(s) / pi.
    """
    daily = _noise(shape, shape.days + shape.horizon, generator)
    sums = np.cumsum(np.concatenate([np.zeros((1, shape.tickers)), daily]), axis=0)
    realised = (sums[shape.horizon + 1 :] - sums[1 : -shape.horizon]) / math.sqrt(shape.horizon)
    forecast, rival = (_persistent(shape, generator) for _ in range(2))
    skill = math.sin(math.pi * (accuracy - 0.5))
    return Market(realised, skill * realised + math.sqrt(1 - skill**2) * forecast, rival)


def power(shape: Shape, seed: int) -> Power:
    """Return what the span can detect, from the spread of accuracies over markets without skill."""
    generator = np.random.default_rng(seed)
    markets = (simulate(shape, 0.5, generator) for _ in range(_POWER_MARKETS))
    accuracies = [float(((each.realised > 0) == (each.forecast > 0)).mean()) for each in markets]
    error = float(np.std(accuracies, ddof=1))
    return Power(error, 0.5 + float(scipy.stats.norm.isf(LEVEL) + scipy.stats.norm.ppf(0.8)) * error)


def calibrate(shape: Shape, config: EvaluateConfig, seed: int) -> tuple[Calibrated, ...]:
    """Return how often each test rejects on simulated markets without and with planted skill.

    The interval of accuracy draws its days as the evaluation does: the same replications, the same seed.
    """
    simulations = config.calibration_simulations
    if simulations == 0:
        return ()
    counts = day_counts(shape.days, shape.block, config.bootstrap_replications, seed)
    generator = np.random.default_rng(seed)
    shares = {}
    for accuracy in (0.5, PLANTED_ACCURACY):
        rejected: dict[str, int] = {}
        for _ in range(simulations):
            market = simulate(shape, accuracy, generator)
            for name, found in _rejections(shape, market, counts):
                rejected[name] = rejected.get(name, 0) + found
        shares[accuracy] = rejected
    without, planted = shares.values()
    results = []
    for name in without:
        size, power = (_share(each[name], simulations) for each in (without, planted))
        results.append(Calibrated(name, *size, *power))
    return tuple(results)


def _share(count: int, of: int) -> tuple[float, Interval]:
    from statsmodels.stats.proportion import proportion_confint  # here, as it takes long to import

    low, high = proportion_confint(count, of, method="beta")  # Clopper & Pearson's
    return count / of, Interval(float(low), float(high))


def _rejections(shape: Shape, market: Market, counts: NDArray[np.int64]) -> Iterator[tuple[str, bool]]:
    frame = _frame(market)
    horizon = shape.horizon
    yield (
        "direction, all windows: Driscoll-Kraay",
        _below(sig.direction_dependence(frame, horizon)),
    )
    first = frame.filter(pl.col("ticker") == "0")
    yield "direction, one ticker: Pesaran-Timmermann", _below(sig.direction_by_ticker(first, horizon)["0"])
    # A small forecast of a noisy return, as real ones are; both equally noisy, so that only skill differs.
    losses = [((market.realised - 0.1 * each) ** 2).mean(axis=1) for each in (market.forecast, market.rival)]
    yield "lower loss: Diebold-Mariano", _below(sig.lower_loss(losses[0], losses[1], horizon))
    daily = daily_coefficients(frame)
    if daily.height:
        yield (
            "order of tickers: mean daily rank correlation",
            _below(sig.mean_above_zero(daily["spearman"].to_numpy(), horizon)),
        )
    hits = ((market.realised > 0) == (market.forecast > 0)).mean(axis=1)
    draws = counts @ hits / shape.days
    widen = widening(shape.days, shape.block, horizon, 1 - LEVEL)
    interval = percentile_interval(draws, float(hits.mean()), 1 - LEVEL, widen)
    yield "accuracy: its 95% interval leaves out 50%", interval.excludes(0.5)


def _frame(market: Market) -> pl.DataFrame:
    days, tickers = market.realised.shape
    return pl.DataFrame(
        {
            "ticker": np.tile(np.arange(tickers), days).astype(str),
            "date": np.repeat(np.arange(days), tickers).astype("datetime64[D]"),
            "realised_return": market.realised.ravel(),
            "forecast_return": market.forecast.ravel(),
            "probability_up": 0.5 + np.arctan(market.forecast.ravel()) / math.pi,
        }
    )


def _persistent(shape: Shape, generator: np.random.Generator) -> Floats:
    noise = _noise(shape, shape.days + _SETTLING, generator)
    gain = math.sqrt(1 - shape.persistence**2)
    series: Floats = scipy.signal.lfilter([gain], [1, -shape.persistence], noise, axis=0)[_SETTLING:]
    return series


def _noise(shape: Shape, days: int, generator: np.random.Generator) -> Floats:
    common, own = generator.normal(size=(days, 1)), generator.normal(size=(days, shape.tickers))
    return math.sqrt(shape.correlation) * common + math.sqrt(1 - shape.correlation) * own


def _below(tested: sig.Tested) -> bool:
    return tested.p_value < LEVEL


def _correlation(left: Floats, right: Floats) -> float:
    known = np.isfinite(left) & np.isfinite(right)
    left, right = left[known], right[known]
    if len(left) < 3 or np.ptp(left) == 0 or np.ptp(right) == 0:
        return 0.0
    return float(np.corrcoef(left, right)[0, 1])
