"""Tests of skill, each from its library, on what the days support.

Windows are never treated as independent. Outcomes of one day move together, so losses are averaged over
tickers before they are tested; outcomes `horizon` bars long overlap, so variances are autocorrelation-robust.

A robust variance is itself an estimate, and judged by the normal distribution it rejects too often: 8 to
10 % at a nominal 5 % for 500 days of overlapping outcomes. Here its bandwidth is 1.3 sqrt(days) (Lazarus,
Lewis, Stock & Watson 2018); lying about the span's own mean takes bandwidth / days of it, which is put back
(Kiefer & Vogelsang 2005); and Student's t has the kernel's equivalent degrees of freedom, 1.5 days /
bandwidth (Priestley 1981 for Bartlett's kernel). On 6,000 simulated markets of the bundled span the tests
then reject 4.6 to 5.0 %; `calibration` measures it for the span at hand.

statsmodels and arch take longer to import than torch: each test imports what it calls, so that whoever starts
waits for neither.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import polars as pl
import scipy
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_SAME: Final = 1e-7  # of the mean loss: two networks of the same bits, run on different processors


@dataclass(frozen=True, slots=True)
class Tested:
    """A test's statistic and its p-value; small speaks for skill."""

    statistic: float
    p_value: float
    degrees: float | None = None  # of freedom of Student's t; None: normal


def bandwidth(days: int, horizon: int) -> int:
    """Return the lags of the robust variance: 1.3 sqrt(days), and at least as far as outcomes overlap."""
    return min(max(math.ceil(1.3 * math.sqrt(days)), horizon - 1), days - 1)


def equivalent_degrees(days: int, lags: int) -> float:
    """Return the degrees of freedom of a Bartlett-kernel variance with this many lags."""
    return max(1.5 * days / (lags + 1), 1.0)


def direction_dependence(frame: pl.DataFrame, horizon: int) -> Tested:
    """Test whether ups come more often when up was called, over all windows of one model and part.

    Least squares of 1{up} on 1{called up} with Driscoll & Kraay's covariance (`statsmodels`,
    ``cov_type="hac-groupsum"``), robust to dependence between tickers and between days. One-sided. A model
    that only ever calls one direction, or a span that only went one way, says nothing: statistic 0, p 1.
    """
    from statsmodels.regression.linear_model import OLS
    from statsmodels.tools.tools import add_constant

    up = (frame["realised_return"].to_numpy() > 0).astype(float)
    called = (frame["probability_up"].to_numpy() > 0.5).astype(float)
    if up.min() == up.max() or called.min() == called.max():
        return Tested(0.0, 1.0)
    day = np.unique(frame["date"].to_physical().to_numpy(), return_inverse=True)[1]
    order = np.argsort(day, kind="stable")
    lags = bandwidth(int(day.max()) + 1, horizon)
    fitted = OLS(up[order], add_constant(called[order])).fit(
        cov_type="hac-groupsum", cov_kwds={"time": day[order], "maxlags": lags}
    )
    return _above(float(fitted.tvalues[1]), int(day.max()) + 1, lags)


def direction_by_ticker(frame: pl.DataFrame, horizon: int) -> dict[str, Tested]:
    """Test each ticker's directions for dependence by Pesaran & Timmermann (1992), one-sided.

    Every `horizon`-th window only: the test takes outcomes for independent, and with overlapping ones and
    persistent forecasts it rejects 47 % of the time at a nominal 5 %. Statistic 0 and p 1 where the calls or
    the outcomes never change, for which it is undefined.
    """
    from statsmodels.stats.diagnostic import pesaran_timmermann

    results = {}
    for (ticker,), history in frame.sort("date").group_by("ticker", maintain_order=True):
        chosen = history.gather_every(horizon)
        realised, called = chosen["realised_return"].to_numpy(), chosen["probability_up"].to_numpy() - 0.5
        varies = all(0 < np.mean(values > 0) < 1 for values in (realised, called))
        if not varies:
            results[str(ticker)] = Tested(0.0, 1.0)
            continue
        outcome = pesaran_timmermann(realised, called, alternative="larger")
        results[str(ticker)] = Tested(float(outcome.statistic), float(outcome.pvalue))
    return results


def lower_loss(model: Floats, baseline: Floats, horizon: int) -> Tested:
    """Test by Diebold & Mariano (1995) whether a model's mean daily loss is below a baseline's, one-sided.

    Losses are one value a day: the mean over its windows (Gu, Kelly & Xiu 2020). The statistic has the
    small-sample factor of Harvey, Leybourne & Newbold (1997); it is negative where the model is better.
    Equal losses on every day: statistic 0, p 1.
    """
    from statsmodels.tsa.stattools import diebold_mariano_test

    if np.allclose(model, baseline, rtol=1e-12, atol=0):
        return Tested(0.0, 1.0)
    days = len(model)
    lags = bandwidth(days, horizon)
    outcome = diebold_mariano_test(
        np.zeros(days), model, baseline, criterion=_loss_itself, harvey_adj=True, horizon=horizon, lags=lags
    )
    statistic = float(outcome.statistic)
    return replace(_above(-statistic, days, lags), statistic=statistic)


def mean_above_zero(daily: Floats, horizon: int) -> Tested:
    """Test whether a daily series, such as information coefficients, has a mean above 0; one-sided."""
    from statsmodels.regression.linear_model import OLS

    if np.ptp(daily) == 0:
        return Tested(0.0, 1.0)
    lags = bandwidth(len(daily), horizon)
    fitted = OLS(daily, np.ones_like(daily)).fit(cov_type="HAC", cov_kwds={"maxlags": lags})
    return _above(float(fitted.tvalues[0]), len(daily), lags)


def any_better_than(
    benchmark: Floats, losses: Sequence[Floats], block: int, replications: int, seed: int
) -> float:
    """Return the p-value that none of several forecasts beats the benchmark: Hansen's SPA (2005), consistent.

    Forecasts whose daily losses equal the benchmark's are left out: they cannot beat it.
    """
    from arch.bootstrap import SPA

    rivals = [loss for loss in losses if not np.allclose(loss, benchmark, rtol=1e-12, atol=0)]
    if not rivals:
        return 1.0
    spa = SPA(benchmark, np.stack(rivals, axis=1), block_size=block, reps=replications, seed=seed)
    spa.compute()
    return float(spa.pvalues["consistent"])


def not_worse_than_any(
    losses: Mapping[str, Floats], size: float, block: int, replications: int, seed: int
) -> dict[str, float]:
    """Return each model's p-value in the model confidence set of Hansen, Lunde & Nason (2011).

    Models at or above `size` are those that the span cannot tell from the best. Of models with the same
    losses on every day, to what another processor rounds differently, one is tested and all get its p-value:
    a difference of rounding errors would have a variance to be tested by.
    """
    from arch.bootstrap import MCS

    scale = max(float(np.abs(loss).mean()) for loss in losses.values())
    groups: dict[str, list[str]] = {}
    for name, loss in losses.items():
        same = (leader for leader in groups if np.allclose(loss, losses[leader], rtol=0, atol=_SAME * scale))
        groups.setdefault(next(same, name), []).append(name)
    leaders = list(groups)
    if len(leaders) == 1:
        return dict.fromkeys(losses, 1.0)
    mcs = MCS(
        np.stack([losses[name] for name in leaders], axis=1),
        size=size,
        block_size=block,
        reps=replications,
        seed=seed,
    )
    mcs.compute()
    found = {
        leaders[index]: float(p) for index, p in zip(mcs.pvalues.index, mcs.pvalues["Pvalue"], strict=True)
    }
    return {name: found[leader] for leader, names in groups.items() for name in names}


def holm(p_values: Mapping[str, float]) -> dict[str, float]:
    """Return p-values adjusted for having asked all of these questions (Holm 1979).

    The numbers are those of statsmodels' `multipletests`, which collects the whole process's garbage at every
    call: a second each time once MLflow and torch are loaded.
    """
    values = np.array(list(p_values.values()), dtype=np.float64)
    order, asked = np.argsort(values), np.arange(len(values), 0, -1)
    adjusted = np.empty_like(values)
    adjusted[order] = np.minimum(np.maximum.accumulate(values[order] * asked), 1.0)
    return dict(zip(p_values, map(float, adjusted), strict=True))


def after_trials(p_value: float, trials: int) -> float:
    """Return a p-value adjusted for being the best of this many trainings, whose p-values are not known."""
    return min(1.0, p_value * max(trials, 1))


def _above(statistic: float, days: int, lags: int) -> Tested:
    degrees = equivalent_degrees(days, lags)
    about_mean = max(1 - (lags + 1) / days, 0.0)
    return Tested(statistic, float(scipy.stats.t.sf(statistic * math.sqrt(about_mean), degrees)), degrees)


def _loss_itself(_: Floats, loss: Floats) -> Floats:
    return loss
