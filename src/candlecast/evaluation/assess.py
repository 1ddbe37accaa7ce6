"""The whole judgement of one test span: evidence, the tests' own calibration, and the economic view."""

import dataclasses
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from candlecast.evaluation.backtest import Outcome, Trading, outcomes, paths
from candlecast.evaluation.bootstrap import MIN_BLOCKS, Interval, day_counts, percentile_interval, widening
from candlecast.evaluation.calibration import Calibrated, Power, Shape, calibrate, power, shape_of
from candlecast.evaluation.config import EvaluateConfig
from candlecast.evaluation.evaluate import MODEL, select
from candlecast.evaluation.evidence import Evidence, gather_evidence
from candlecast.evaluation.resampling import Floats
from candlecast.evaluation.runs import RunsEvidence, compare_runs
from candlecast.evaluation.sharpe import SESSIONS_A_YEAR
from candlecast.files import write_text


@dataclass(frozen=True, slots=True)
class Economics:
    """What each strategy earned, and how far luck alone moves a year's return before costs."""

    paths: tuple[Trading, ...]
    outcomes: tuple[Outcome, ...]
    annual_return: dict[str, Interval]  # strategy -> interval of its yearly return before costs


@dataclass(frozen=True, slots=True)
class Assessment:
    """The judgement of one test span."""

    evidence: Evidence
    shape: Shape
    power: Power
    calibrated: tuple[Calibrated, ...]
    economics: Economics
    runs: RunsEvidence | None = None  # beside the other runs in the tracking store


def with_runs(
    assessment: Assessment | None, forecasts: pl.DataFrame, others: Mapping[str, str], seed: int
) -> Assessment | None:
    """Return the judgement with the tests over all runs of the span, as `runs.compare_runs` makes them."""
    if assessment is None:
        return None
    return dataclasses.replace(assessment, runs=compare_runs(forecasts, others, assessment.evidence, seed))


def write_assessment(path: Path, assessment: Assessment | None) -> None:
    """Write everything but the daily paths as JSON, the same bytes for the same forecasts; null for None."""
    write_text(path, json.dumps(_record(assessment), indent=2, allow_nan=False) + "\n")


def _record(assessment: Assessment | None) -> dict[str, Any] | None:
    if assessment is None:
        return None
    economics = assessment.economics
    intervals = economics.annual_return
    return {
        "evidence": dataclasses.asdict(assessment.evidence),
        "runs": dataclasses.asdict(assessment.runs) if assessment.runs else None,
        "shape": dataclasses.asdict(assessment.shape),
        "power": dataclasses.asdict(assessment.power),
        "calibrated": [dataclasses.asdict(each) for each in assessment.calibrated],
        "economics": {
            "outcomes": [dataclasses.asdict(each) for each in economics.outcomes],
            "annual_return": {name: dataclasses.asdict(each) for name, each in intervals.items()},
            "break_even_bp": {each.strategy: each.break_even_bp for each in economics.paths},
            "turnover_a_year": {each.strategy: each.turnover_a_year for each in economics.paths},
        },
    }


def assess(
    forecasts: pl.DataFrame,
    training_mean: float | Floats,
    closes: pl.DataFrame,
    horizon: int,
    config: EvaluateConfig,
    *,
    trials: int,
    seed: int,
) -> Assessment | None:
    """Return the judgement of the network's test forecasts beside the baselines'.

    None where the test span holds fewer than `MIN_BLOCKS` outcomes that do not overlap: nothing could be
    said of luck then.

    Parameters
    ----------
    forecasts
        Rows in `schema.FORECASTS`, of the network and the baselines.
    training_mean
        Mean realised log-return of the training windows, or one value a test window sorted by date and
        ticker.
    closes
        ticker, date and close of every session from the test span on.
    trials
        Trainings that this one was chosen from, itself included.

    Raises
    ------
    EvaluationError
        A forecast has no close, or no session follows the forecasts.
    """
    test = select(forecasts, MODEL, "test")
    if test["date"].n_unique() < MIN_BLOCKS * horizon:
        return None
    evidence = gather_evidence(forecasts, training_mean, horizon, config, trials, seed)
    shape = shape_of(test, horizon, evidence.block)
    followed = paths(test, closes, horizon)
    days = len(followed[0].gross)
    counts = day_counts(days, evidence.block, config.bootstrap_replications, seed) / days * SESSIONS_A_YEAR
    widen = widening(days, evidence.block, horizon, config.confidence)
    intervals = {
        path.strategy: percentile_interval(
            counts @ path.gross, float(path.gross.mean()) * SESSIONS_A_YEAR, config.confidence, widen
        )
        for path in followed
    }
    return Assessment(
        evidence=evidence,
        shape=shape,
        power=power(shape, seed),
        calibrated=calibrate(shape, config, seed),
        economics=Economics(followed, outcomes(followed, config.costs_bp, trials), intervals),
    )
