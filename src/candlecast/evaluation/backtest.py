"""What the forecasts would have earned before and after costs: plain numbers, no promise.

A forecast made at the close of bar t is traded at the close of bar t + 1: nobody trades at a price they have
just learnt. It is held for `horizon` bars. Each day a tranche of 1 / horizon of the capital is put on, spread
equally over the tickers forecast that day, so up to `horizon` tranches are held side by side. Costs are paid
on every change of position, the last unwinding included.

*long/short*  +1 where the probability of going up is above one half, -1 below, 0 at one half
*long/flat*   +1 above one half, else 0
*always long* +1 always: what owning the same tickers in the same tranches gave
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from candlecast.errors import EvaluationError
from candlecast.evaluation import sharpe

Floats = NDArray[np.float64]

STRATEGIES: Final = ("long/short", "long/flat", "always long")
_BASIS_POINT: Final = 1e-4


@dataclass(frozen=True, slots=True)
class Trading:
    """One strategy day by day; day s runs from the close of session s to the next."""

    strategy: str
    dates: pl.Series  # of the close at which each day ends
    gross: Floats  # simple return on capital before costs
    turnover: Floats  # value traded at the start of the day, in capital

    def net(self, cost_bp: float) -> Floats:
        """Return daily returns after this cost of traded value, in basis points."""
        return self.gross - self.turnover * cost_bp * _BASIS_POINT

    @property
    def turnover_a_year(self) -> float:
        """Return how often the capital is traded in a year."""
        return float(self.turnover.mean()) * sharpe.SESSIONS_A_YEAR

    @property
    def break_even_bp(self) -> float | None:
        """Return the cost at which nothing is left; None where there was nothing before costs."""
        if self.gross.mean() <= 0 or self.turnover.mean() == 0:
            return None
        return float(self.gross.mean() / self.turnover.mean() / _BASIS_POINT)


@dataclass(frozen=True, slots=True)
class Outcome:
    """A strategy at one cost. Returns and volatility are a year's, on capital."""

    strategy: str
    cost_bp: float
    annual_return: float  # 252 times the mean day
    annual_volatility: float
    annual_sharpe: float
    largest_drawdown: float  # loss from a peak of compounded capital, in (0, 1]
    deflated_sharpe: float  # probability that the true ratio beats the best of as many trials without skill


def paths(frame: pl.DataFrame, closes: pl.DataFrame, horizon: int) -> tuple[Trading, ...]:
    """Return each strategy of `STRATEGIES` for one model's forecasts of one part.

    Parameters
    ----------
    frame
        Forecasts in `schema.FORECASTS`.
    closes
        ticker, date and close of at least the sessions from the first forecast on; a session that a ticker
        misses counts as unchanged.

    Raises
    ------
    EvaluationError
        A forecast has no close, or no session follows the forecasts.
    """
    tickers = frame["ticker"].unique().sort()
    prices = (
        closes.filter(pl.col("ticker").is_in(tickers.implode()), pl.col("date") >= frame["date"].min())
        .pivot("ticker", index="date", values="close")
        .sort("date")
        .select("date", *tickers)
    )
    sessions = prices["date"]
    pivoted = frame.pivot("ticker", index="date", values="probability_up")
    called = sessions.to_frame().join(pivoted, on="date", how="left", maintain_order="left")
    probability = called.select(*tickers).to_numpy().astype(np.float64)
    lost = frame.join(closes, on=["ticker", "date"], how="anti")
    if lost.height:
        raise EvaluationError(
            f"{lost['ticker'][0]} on {lost['date'][0]}: forecast without a close; run dvc repro"
        )
    last = int(np.flatnonzero(np.isfinite(probability).any(axis=1))[-1])
    days = min(last + 1 + horizon, len(sessions) - 1)
    if last + 1 > days:
        raise EvaluationError(f"backtest: no session follows the forecasts, which end on {sessions[last]}")
    filled = prices.select(pl.col(*tickers).forward_fill().backward_fill()).to_numpy()[: days + 1]
    moves = filled[1:] / filled[:-1] - 1
    return tuple(
        _path(name, probability[:days], moves, sessions[1 : days + 1], horizon) for name in STRATEGIES
    )


def outcomes(followed: Sequence[Trading], costs_bp: Sequence[float], trials: int) -> tuple[Outcome, ...]:
    """Return every strategy at every cost; `trials` are the trainings this one was chosen from."""
    results = []
    for path in followed:
        for cost in costs_bp:
            net = path.net(cost)
            results.append(
                Outcome(
                    strategy=path.strategy,
                    cost_bp=cost,
                    annual_return=float(net.mean()) * sharpe.SESSIONS_A_YEAR,
                    annual_volatility=float(net.std()) * math.sqrt(sharpe.SESSIONS_A_YEAR),
                    annual_sharpe=sharpe.daily_sharpe(net) * math.sqrt(sharpe.SESSIONS_A_YEAR),
                    largest_drawdown=largest_drawdown(net),
                    deflated_sharpe=sharpe.deflated(net, trials),
                )
            )
    return tuple(results)


def largest_drawdown(returns: Floats) -> float:
    """Return the largest fall of compounded capital from an earlier peak, the start included."""
    capital = np.concatenate([[1.0], np.cumprod(1 + returns)])
    return float((1 - capital / np.maximum.accumulate(capital)).max())


def _path(name: str, called: Floats, moves: Floats, dates: pl.Series, horizon: int) -> Trading:
    known = np.isfinite(called)
    opinion = np.where(known, called - 0.5, 0)
    signal = {
        "long/short": np.sign(opinion),
        "long/flat": (opinion > 0).astype(np.float64),
        "always long": known.astype(np.float64),
    }[name]
    tranche = signal / np.maximum(known.sum(axis=1, keepdims=True), 1) / horizon
    # A tranche of day t is held over the days t + 1 .. t + horizon.
    sums = np.concatenate([np.zeros((1, tranche.shape[1])), np.cumsum(tranche, axis=0)])
    start = np.maximum(np.arange(len(moves)) - horizon, 0)
    position = sums[np.arange(len(moves))] - sums[start]
    position[np.abs(position) < 1e-15] = 0  # what rounding leaves of a closed position
    turnover = np.abs(np.diff(position, axis=0, prepend=0)).sum(axis=1)
    turnover[-1] += np.abs(position[-1]).sum()
    return Trading(name, dates, (position * moves).sum(axis=1), turnover)
