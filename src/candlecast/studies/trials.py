"""A run of the tracking store in its place: its arm, seed and fold, and what it went through as frames."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from io import StringIO
from typing import Final

import numpy as np
import polars as pl

from candlecast.studies.study import TUNING_METRIC
from candlecast.tracking.runs import Course, TrackedRun
from candlecast.tracking.studies import DIVERGED

_TRAINING: Final = {"loss": "train/loss", "grad_norm": "train/grad_norm", "noise_scale": "train/noise_scale"}
_VALIDATION: Final = {
    "loss": "val/loss",
    "return_rmse_error": "val/return_rmse_error",
    "directional_accuracy": "val/directional_accuracy",
}
_NUMBERS: Final = ("samples_seen", *_TRAINING)


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """A training as one of an arm's."""

    arm: str
    seed: int
    fold: int
    value: float  # of the tuned parameter
    run: TrackedRun
    training: pl.DataFrame  # update, samples_seen, seconds, loss, grad_norm, noise_scale
    validation: pl.DataFrame  # update, samples_seen, seconds, loss, return_rmse_error, directional_accuracy
    baseline: Mapping[str, float]  # test/... of the training mean on the same windows; may be empty

    @property
    def pair(self) -> tuple[int, int]:
        """Return what a run of another arm must share to be its pair: seed and fold."""
        return self.seed, self.fold


def make_trial(run: TrackedRun, course: Course, arm: str, key: str = "train.peak_lr") -> Trial:
    """Return a run in its place, the course of its training as two frames."""
    points = course.points
    training = _history(course.history) if course.history else _frame(points, _TRAINING)
    return Trial(
        arm=arm,
        seed=int(run.params.get("seed", 0)),
        fold=int(run.params.get("windows.fold", 0)),
        value=float(run.params.get(key, "nan")),
        run=run,
        training=_placed(training, points),
        validation=_placed(_frame(points, _VALIDATION), points),
        baseline=_baseline(course.scores),
    )


def diverged(run: TrackedRun) -> bool:
    """Whether a tuning run was stopped by a number that was not finite."""
    return DIVERGED in run.tags


def best_loss(run: TrackedRun) -> float | None:
    """Return what chooses an arm's learning rate: the lowest validation loss, infinite where it diverged."""
    return math.inf if diverged(run) else run.metrics.get(TUNING_METRIC)


def _baseline(scores: str | None) -> dict[str, float]:
    if scores is None:
        return {}
    baselines = json.loads(scores).get("baselines", {})
    return {f"test/{name}": float(value) for name, value in baselines.get("training_mean", {}).items()}


def _history(text: str) -> pl.DataFrame:
    read = pl.read_csv(StringIO(text), infer_schema=False)
    return read.select(
        pl.col("update").cast(pl.Int64),
        *(
            pl.col(name).cast(pl.Float64) if name in read.columns else pl.lit(None, pl.Float64).alias(name)
            for name in _NUMBERS
        ),
    )


def _frame(points: Mapping[str, Sequence[tuple[int, float]]], names: Mapping[str, str]) -> pl.DataFrame:
    first, *others = names
    frame = _column(points, names[first], first)
    for name in others:
        frame = frame.join(_column(points, names[name], name), on="update", how="left")
    return frame.sort("update")


def _column(points: Mapping[str, Sequence[tuple[int, float]]], metric: str, name: str) -> pl.DataFrame:
    return pl.DataFrame(list(points.get(metric, ())), {"update": pl.Int64, name: pl.Float64}, orient="row")


def _placed(frame: pl.DataFrame, points: Mapping[str, Sequence[tuple[int, float]]]) -> pl.DataFrame:
    # Samples and seconds lie beside some updates only; between them they grow evenly.
    for name in ("samples_seen", "seconds"):
        if name not in frame.columns:
            known = np.array(points.get(name) or [(0, np.nan)], dtype=np.float64)
            steps, values = np.vstack([[0.0, 0.0], known]).T
            frame = frame.with_columns(pl.Series(name, np.interp(frame["update"], steps, values)))
    return frame
