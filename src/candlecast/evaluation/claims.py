"""Questions a reader puts to a forecast, each answered by one test, with the adjustments that are due."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import polars as pl

from candlecast.evaluation import significance as sig
from candlecast.evaluation.correlation import daily_coefficients
from candlecast.evaluation.evaluate import MODEL
from candlecast.evaluation.significance import Floats

# One value a day each, from `resampling.DayScores.daily`.
LOSSES: Final = {"squared": "squared error of the return", "brier": "squared error of the probability"}


@dataclass(frozen=True, slots=True)
class Claim:
    """A question put to the test span, and the answer of one test."""

    family: str  # "direction", "ticker", "order", or a loss
    question: str
    test: str
    statistic: float | None
    p_value: float  # of this test alone
    adjusted: float  # for the family's other questions (Holm) and for the number of trainings tried


def direction_claims(frame: pl.DataFrame, horizon: int, trials: int) -> list[Claim]:
    """Return what one model's forecasts of one part say of the direction and of the order of tickers."""
    pooled = sig.direction_dependence(frame, horizon)
    claims = [
        _claim(
            "direction",
            "Do ups come more often when up is called?",
            "regression, Driscoll-Kraay",
            pooled,
            trials,
        )
    ]
    daily = daily_coefficients(frame)
    if daily.height > horizon:
        tested = sig.mean_above_zero(daily["spearman"].to_numpy(), horizon)
        question = "Is the mean daily rank correlation across tickers above 0?"
        claims.append(_claim("order", question, "mean, Newey-West", tested, trials))
    tickers = sig.direction_by_ticker(frame, horizon)
    adjusted = sig.holm({ticker: tested.p_value for ticker, tested in tickers.items()})
    for ticker, tested in tickers.items():
        question = f"{ticker}: do ups come more often when up is called?"
        test = f"Pesaran-Timmermann, every {horizon}th window" if horizon > 1 else "Pesaran-Timmermann"
        claims.append(_claim("ticker", question, test, tested, trials, adjusted[ticker]))
    return claims


def loss_claims(losses: Mapping[str, Mapping[str, Floats]], horizon: int, trials: int) -> list[Claim]:
    """Return the tests of the network against each baseline; `losses` is loss -> model -> one value a day."""
    claims = []
    for loss, daily in losses.items():
        tested = {
            name: sig.lower_loss(daily[MODEL], values, horizon)
            for name, values in daily.items()
            if name != MODEL
        }
        adjusted = sig.holm({name: each.p_value for name, each in tested.items()})
        for name, each in tested.items():
            claims.append(
                _claim(loss, name, "Diebold-Mariano, Harvey's factor", each, trials, adjusted[name])
            )
    return claims


def any_claims(
    losses: Mapping[str, Mapping[str, Floats]], block: int, replications: int, seed: int
) -> list[Claim]:
    """Return the tests of all forecasts together against the training mean, where it is among them."""
    claims = []
    for loss, daily in losses.items():
        benchmark = next((name for name in daily if name == "training_mean"), None)
        if benchmark is None:
            continue
        rivals = [values for name, values in daily.items() if name != benchmark]
        p_value = sig.any_better_than(daily[benchmark], rivals, block, replications, seed)
        claims.append(
            Claim(
                family="any",
                question=f"Does any forecast here have a lower {LOSSES[loss]} than the training mean?",
                test="superior predictive ability (Hansen), consistent",
                statistic=None,
                p_value=p_value,
                adjusted=p_value,
            )
        )
    return claims


def _claim(
    family: str, question: str, test: str, tested: sig.Tested, trials: int, adjusted: float | None = None
) -> Claim:
    within = tested.p_value if adjusted is None else adjusted
    return Claim(family, question, test, tested.statistic, tested.p_value, sig.after_trials(within, trials))
