"""All runs of one test span as one family: whether any beats the baselines, and whether this one does.

Who tries thirty settings and reports the best has asked thirty questions. Runs that forecast the very same
windows are tested together on their daily losses; a training whose losses are not known is taken to be one
more question, answered with p = 1, which is the most it can cost the others.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
import polars as pl

from candlecast.evaluation import significance as sig
from candlecast.evaluation.claims import LOSSES
from candlecast.evaluation.days import Floats, daily_losses, parse_daily_losses
from candlecast.evaluation.evaluate import MODEL, baseline_names, select
from candlecast.evaluation.evidence import LEVEL, Evidence

_RUN: Final = "run "  # before an identifier, which no baseline's name begins with


@dataclass(frozen=True, slots=True)
class RunsTested:
    """The family by one loss."""

    benchmark: str  # the baseline of the lowest mean loss, chosen on the span itself, which favours it
    any_better: float  # p-value: no run has a lower expected loss than the benchmark (Hansen's SPA)
    place: int  # of this run by mean loss, 1 the lowest
    p_value: float  # this run has a lower loss than each baseline
    adjusted: float  # by Holm over all trainings
    found: int  # runs whose adjusted p-value is below `LEVEL`
    set_p_value: float  # of this run in the model confidence set of all runs and baselines
    set_runs: int  # runs that the span cannot tell from the best
    set_baselines: tuple[str, ...]  # and the baselines among them


@dataclass(frozen=True, slots=True)
class RunsEvidence:
    """What is said of this run beside every other of its test span that left daily losses in the store."""

    runs: int  # compared, this one included
    trainings: int  # in the store; those beyond `runs` have no daily losses of this span
    losses: Mapping[str, RunsTested]


def compare_runs(
    forecasts: pl.DataFrame, others: Mapping[str, str], evidence: Evidence, seed: int
) -> RunsEvidence:
    """Return the tests over all runs of the network's test span.

    Parameters
    ----------
    forecasts
        Rows in `schema.FORECASTS`, of this run's network and the baselines.
    others
        Run -> its daily losses as CSV, as `days.daily_losses` has them. Those that do not cover the days of
        this span are left out, and count as trainings without.
    """
    names = (MODEL, *baseline_names(forecasts))
    frames = {name: daily_losses(select(forecasts, name, "test")) for name in names}
    dates = frames[MODEL]["date"]
    read = {_RUN + name: parse_daily_losses(text, dates) for name, text in others.items()}
    known = {name: series for name, series in read.items() if series is not None}
    trainings = max(evidence.trials, len(known) + 1)
    tested = {}
    for loss in LOSSES:
        baselines = {name: frame[loss].to_numpy() for name, frame in frames.items() if name != MODEL}
        runs = {MODEL: frames[MODEL][loss].to_numpy(), **{name: each[loss] for name, each in known.items()}}
        tested[loss] = runs_tested(runs, baselines, trainings, evidence, seed)
    return RunsEvidence(runs=len(known) + 1, trainings=trainings, losses=tested)


def runs_tested(
    runs: Mapping[str, Floats],
    baselines: Mapping[str, Floats],
    trainings: int,
    evidence: Evidence,
    seed: int,
) -> RunsTested:
    """Return the tests of one loss; `runs` holds `MODEL`, each series one value a day [days]."""
    block, replications = evidence.block, evidence.replications
    benchmark = min(baselines, key=lambda name: float(baselines[name].mean()))
    p_values = {name: below_each(loss, baselines, evidence.horizon) for name, loss in runs.items()}
    unknown = {f"unknown {index}": 1.0 for index in range(trainings - len(runs))}
    adjusted = sig.holm({**p_values, **unknown})
    size = 1 - evidence.confidence
    best = sig.not_worse_than_any({**runs, **baselines}, size, block, replications, seed)
    means = {name: float(loss.mean()) for name, loss in runs.items()}
    return RunsTested(
        benchmark=benchmark,
        any_better=sig.any_better_than(baselines[benchmark], list(runs.values()), block, replications, seed),
        place=1 + sum(mean < means[MODEL] for mean in means.values()),
        p_value=p_values[MODEL],
        adjusted=adjusted[MODEL],
        found=sum(adjusted[name] < LEVEL for name in runs),
        set_p_value=best[MODEL],
        set_runs=sum(best[name] >= size for name in runs),
        set_baselines=tuple(name for name in baselines if best[name] >= size),
    )


def below_each(loss: Floats, baselines: Mapping[str, Floats], horizon: int) -> float:
    """Return the p-value of a lower loss than each baseline: the largest of the tests against one."""
    return float(np.max([sig.lower_loss(loss, other, horizon).p_value for other in baselines.values()]))
