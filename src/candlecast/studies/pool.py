"""The folds of one walk-forward as one test span: `candlecast pool`."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import polars as pl

from candlecast.errors import EvaluationError
from candlecast.evaluation.assess import Assessment, assess
from candlecast.evaluation.config import EvaluateConfig
from candlecast.evaluation.evaluate import MODEL, Metrics, baseline_names, same_windows, select
from candlecast.evaluation.folds import pool_folds
from candlecast.evaluation.metrics import scores
from candlecast.evaluation.resampling import Floats
from candlecast.params import parse
from candlecast.report import evidence_tables, sentences, tables
from candlecast.report.scores import SCORES
from candlecast.report.summary import markdown
from candlecast.report.tables import Cell, Row, Table
from candlecast.report.verdict import answer, lead
from candlecast.studies.fold_run import FoldRun, read_fold_run

_SHOWN: Final = ("directional_accuracy", "out_of_sample_r2_score")


@dataclass(frozen=True, slots=True)
class Pooled:
    """A whole walk-forward, every day of it once."""

    runs: tuple[FoldRun, ...]  # fold 0 first
    metrics: Metrics  # of all test spans together; `validation` is empty, as its spans overlap
    assessment: Assessment | None  # None: too short for intervals
    trainings: int  # finished ones in the tracking store


def pool_runs(root: Path, names: Sequence[str], trainings: int) -> Pooled:
    """Judge the runs called `names`, one of each fold, as one.

    Parameters
    ----------
    trainings
        Finished trainings in the tracking store. The folds count as one trial, every other training as
        one more.

    Raises
    ------
    EvaluationError
        A fold is there twice or not at all, or two runs differ in more than the fold.
    """
    runs = sorted((read_fold_run(root, name) for name in names), key=lambda run: run.fold)
    check_folds(runs)
    forecasts, means = pool_folds([(run.forecasts, run.training_mean) for run in runs])
    first = runs[0]
    assessment = assess(
        forecasts,
        means,
        first.closes,
        int(first.params["windows"]["horizon"]),
        parse(first.params["evaluate"], EvaluateConfig, "evaluate"),
        trials=max(trainings - len(runs) + 1, 1),
        seed=int(first.params["seed"]),
    )
    return Pooled(tuple(runs), _test_scores(forecasts, means), assessment, trainings)


def check_folds(runs: Sequence[FoldRun]) -> None:
    """Raise `EvaluationError` unless the runs, fold 0 first, are the folds of one walk-forward."""
    first = runs[0]
    if first.folds == 1:
        raise EvaluationError(
            f"{first.name}: windows.folds is 1, so there is nothing to pool; reports/report.html judges it"
        )
    for one, other in itertools.pairwise(runs):
        if one.fold == other.fold and one.folds == other.folds:
            raise EvaluationError(
                f"{one.name} and {other.name}: both are fold {one.fold} of {one.folds}; name one run of each "
                "fold, and lay runs of the same fold side by side with: candlecast ui"
            )
    for run in runs[1:]:
        _check_alike(first, run)
    missing = sorted(set(range(first.folds)) - {run.fold for run in runs})
    if missing:
        raise EvaluationError(
            f"windows.fold: no run of fold {missing[0]} of {first.folds} is named, and folds left out are "
            f"folds chosen; run it with: dvc exp run -S windows.folds={first.folds} "
            f"-S windows.fold={missing[0]}"
        )


def _check_alike(first: FoldRun, run: FoldRun) -> None:
    ours, theirs = (dict(tables.flatten(each.params)) for each in (first, run))
    for key in sorted(ours.keys() | theirs.keys()):
        if key != "windows.fold" and ours.get(key) != theirs.get(key):
            raise EvaluationError(
                f"{run.name}: {key} is {theirs.get(key, 'not there')}, in {first.name} "
                f"{ours.get(key, 'not there')}; the folds of a walk-forward differ in windows.fold alone"
            )
    if run.data_sha256 != first.data_sha256:
        raise EvaluationError(
            f"{run.name}: holds other bars than {first.name} (SHA-256 {run.data_sha256[:12]} and "
            f"{first.data_sha256[:12]}); run every fold on the same data/raw"
        )


def _test_scores(forecasts: pl.DataFrame, means: Floats) -> Metrics:
    network = select(forecasts, MODEL, "test")
    baselines = {}
    for name in baseline_names(forecasts):
        frame = select(forecasts, name, "test")
        same_windows(network, frame)
        baselines[name] = scores(frame, means)
    return {"test": scores(network, means), "validation": {}, "baselines": baselines}


def pooled_text(pooled: Pooled) -> str:
    """Return the judgement in Markdown: verdict, folds, scores with intervals, tests in words, costs."""
    assessment = pooled.assessment
    evidence = assessment.evidence if assessment else None
    folds = len(pooled.runs)
    parts = [
        f"## {answer(evidence)}",
        f"Walk-forward over {folds} folds, pooled: every day of the test spans once. {lead(pooled.metrics)}",
        markdown(_fold_table(pooled.runs), "Fold"),
        markdown(tables.headline_table(pooled.metrics), "All folds"),
    ]
    if assessment and evidence:
        parts += [
            sentences.power_sentence(evidence, assessment.power),
            markdown(evidence_tables.evidence_table(evidence), "All folds"),
            "\n".join(f"- {claim}" for claim in sentences.claim_sentences(evidence)),
            f"{sentences.resampling_sentence(evidence)} {_trials(pooled)}",
            "\n".join(
                f"- {line}"
                for line in sentences.economics_sentences(assessment.economics, evidence.confidence)
            ),
        ]
    parts.append("Research software, not investment advice.")
    return "\n\n".join(parts) + "\n"


def _trials(pooled: Pooled) -> str:
    folds, trainings = len(pooled.runs), pooled.trainings
    if trainings < folds:
        return (
            f"The tracking store holds {trainings} finished trainings, fewer than the folds: how many were "
            "tried before this walk-forward is not known, and p-values are as if it were the first."
        )
    return (
        f"The tracking store holds {trainings} finished trainings. The {folds} folds count as one trial, "
        f"every other training as one more: p-values are multiplied by {trainings - folds + 1}."
    )


def _fold_table(runs: Sequence[FoldRun]) -> Table:
    shown = [score for score in SCORES if score.name in _SHOWN]
    rows = []
    for run in runs:
        network = select(run.forecasts, MODEL, "test")
        values = scores(network, run.training_mean)
        cells = [
            run.name,
            f"{run.boundaries['test_start']} to {run.boundaries['test_end']}",
            f"{network.height:,}",
        ]
        cells += [score.show(values[score.name]) for score in shown]
        rows.append(Row(str(run.fold), tuple(map(Cell, cells))))
    heads = ("Run", "Tested on", "Windows", *(score.label for score in shown))
    return Table(tuple((head, "") for head in heads), tuple(rows))
