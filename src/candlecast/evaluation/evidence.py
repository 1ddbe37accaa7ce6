"""What the test span supports: intervals for every score and tests of every claim."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
import polars as pl

from candlecast.evaluation import significance as sig
from candlecast.evaluation.bootstrap import Interval, block_length, day_counts, percentile_interval, widening
from candlecast.evaluation.claims import LOSSES, Claim, any_claims, direction_claims, loss_claims
from candlecast.evaluation.config import EvaluateConfig
from candlecast.evaluation.evaluate import MODEL, baseline_names, select
from candlecast.evaluation.resampling import DayScores, Floats

LEVEL: Final = 0.05  # a p-value below it is called evidence


@dataclass(frozen=True, slots=True)
class ScoreEvidence:
    """One score of the network, its interval, and its distance to the best baseline of that score."""

    name: str
    value: float
    interval: Interval
    baseline: str  # best on the test span itself, which favours it
    difference: float  # the network's score less the baseline's
    difference_interval: Interval  # from the same resampled days

    @property
    def gain(self) -> int:
        """1 where the interval says better than the baseline, -1 worse, 0 where it cannot tell."""
        if not self.difference_interval.excludes(0.0):
            return 0
        better = self.difference < 0 if self.name.endswith("_error") else self.difference > 0
        return 1 if better else -1


@dataclass(frozen=True, slots=True)
class Evidence:
    """Everything said about luck and skill on one part."""

    windows: int
    days: int
    tickers: int
    horizon: int
    block: int  # mean days drawn together
    replications: int
    confidence: float
    trials: int  # trainings this one was chosen from, itself included
    scores: tuple[ScoreEvidence, ...]
    claims: tuple[Claim, ...]
    confidence_sets: Mapping[str, Mapping[str, float]]  # loss -> model -> p-value

    def score(self, name: str) -> ScoreEvidence:
        """Return the evidence on one score."""
        return next(score for score in self.scores if score.name == name)

    def beats_every_baseline(self, loss: str) -> float:
        """Return the p-value of having a lower loss than each baseline, trials included.

        Each must be beaten, so the largest p-value decides, and no adjustment for their number is due.
        """
        worst = max((claim.p_value for claim in self.claims if claim.family == loss), default=1.0)
        return sig.after_trials(worst, self.trials)


def gather_evidence(
    forecasts: pl.DataFrame,
    training_mean: float | Floats,
    horizon: int,
    config: EvaluateConfig,
    trials: int,
    seed: int,
) -> Evidence:
    """Return intervals and tests for the network's forecasts of the test part beside the baselines'.

    Parameters
    ----------
    forecasts
        Rows in `schema.FORECASTS`: the network's and the baselines'.
    training_mean
        Mean realised log-return of the training windows, or one value a test window sorted by date and
        ticker.
    trials
        Trainings that were looked at before this one was chosen, itself included, as the tracking store
        counts them.

    Raises
    ------
    EvaluationError
        The days are too few for an interval.
    """
    frames = {name: select(forecasts, name, "test") for name in (MODEL, *baseline_names(forecasts))}
    models = {name: DayScores(frame, training_mean) for name, frame in frames.items()}
    network = models[MODEL]
    daily = np.stack([network.daily(name) for name in ("squared", "brier", "hits")], axis=1)
    block = block_length(daily, horizon)
    counts = day_counts(len(daily), block, config.bootstrap_replications, seed)
    widen = widening(len(daily), block, horizon, config.confidence)
    draws = {name: model(counts) for name, model in models.items()}
    scores = _score_evidence(models, draws, config.confidence, widen)
    losses = {loss: {name: model.daily(loss) for name, model in models.items()} for loss in LOSSES}
    claims = (
        *direction_claims(frames[MODEL], horizon, trials),
        *loss_claims(losses, horizon, trials),
        *any_claims(losses, block, config.bootstrap_replications, seed),
    )
    sets = {
        loss: sig.not_worse_than_any(each, 1 - config.confidence, block, config.bootstrap_replications, seed)
        for loss, each in losses.items()
    }
    return Evidence(
        windows=frames[MODEL].height,
        days=len(daily),
        tickers=frames[MODEL]["ticker"].n_unique(),
        horizon=horizon,
        block=block,
        replications=config.bootstrap_replications,
        confidence=config.confidence,
        trials=trials,
        scores=scores,
        claims=claims,
        confidence_sets=sets,
    )


def _score_evidence(
    models: Mapping[str, DayScores], draws: Mapping[str, dict[str, Floats]], confidence: float, widen: float
) -> tuple[ScoreEvidence, ...]:
    once = np.ones((1, len(models[MODEL].dates)))
    values = {
        name: {key: float(each[0]) for key, each in model(once).items()} for name, model in models.items()
    }
    found = []
    for name in models[MODEL].names:
        baselines = [other for other in models if other != MODEL and name in values[other]]
        ordered = min if name.endswith("_error") else max
        best = ordered(baselines, key=lambda other: values[other][name])
        network, value = draws[MODEL][name], values[MODEL][name]
        lead = value - values[best][name]
        found.append(
            ScoreEvidence(
                name=name,
                value=value,
                interval=percentile_interval(network, value, confidence, widen),
                baseline=best,
                difference=lead,
                difference_interval=percentile_interval(network - draws[best][name], lead, confidence, widen),
            )
        )
    return tuple(found)
