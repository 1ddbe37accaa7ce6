"""What a training is measured by: scores as logged, and figures that its course gives."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
import polars as pl

from candlecast.report.scores import SCORES, fine, fine_signed, minus, points, share, size
from candlecast.studies.trials import Trial

Better = Literal["lower", "higher", "neither"]

_LAST: Final = 0.5  # share of a training, at its end, over which steadiness is measured


@dataclass(frozen=True, slots=True)
class Measure:
    """A number of a training: its name as MLflow has it or as `derived` gives it, and how it is read."""

    name: str
    label: str
    better: Better
    show: Callable[[float], str]
    show_difference: Callable[[float], str]


def count(value: float) -> str:
    """Return a whole number."""
    return f"{value:,.0f}"


def count_difference(value: float) -> str:
    """Return a whole number with its sign."""
    return minus(f"{value:+,.0f}")


def _small(value: float) -> str:
    return minus(f"{100 * value:+.3f} pt")


_TEST_BETTER: Final[Mapping[str, Better]] = {"error": "lower", "score": "higher", "accuracy": "higher"}

MEASURES: Final = (
    Measure("val/best_loss", "Lowest validation loss", "lower", fine, fine_signed),
    Measure("equal/updates_loss", "Lowest validation loss at equal updates", "lower", fine, fine_signed),
    Measure("equal/samples_loss", "Lowest validation loss at equal windows", "lower", fine, fine_signed),
    Measure("val/last_loss", "Validation loss at the end", "lower", fine, fine_signed),
    *(
        Measure(
            f"test/{score.name}",
            f"{score.label}, test",
            _TEST_BETTER[score.name.rpartition("_")[2]],
            score.show,
            _small if score.show is size else score.show_difference,
        )
        for score in SCORES
    ),
    Measure("total/clipped_share", "Updates clipped", "neither", share, points),
    Measure("total/skipped_updates", "Updates skipped", "neither", count, count_difference),
    Measure("total/windows_per_second", "Windows per second", "higher", count, count_difference),
    Measure("total/seconds", "Seconds", "lower", count, count_difference),
    Measure("total/peak_memory_mib", "Peak memory of the process, MiB", "lower", count, count_difference),
    Measure("train/noise_scale", "Gradient noise scale, windows", "neither", count, count_difference),
)
_BY_NAME: Final = {measure.name: measure for measure in MEASURES}


def measure(name: str) -> Measure:
    """Return how a metric is read; one that is not known is better lower if its name says error or loss."""
    if name in _BY_NAME:
        return _BY_NAME[name]
    better: Better = "lower" if name.endswith(("error", "loss")) else "higher"
    return Measure(name, name, better, fine, fine_signed)


def common_budget(trials: list[Trial]) -> dict[str, float]:
    """Return the windows and the updates that every training reached."""
    return {
        "samples_seen": min(_last(trial.validation["samples_seen"]) for trial in trials),
        "update": min(_last(trial.validation["update"]) for trial in trials),
    }


def values(trial: Trial, budget: Mapping[str, float]) -> dict[str, float]:
    """Return every finite measure of a training, the logged ones and those of its course."""
    found = {**trial.run.metrics, **derived(trial, budget)}
    return {name: value for name, value in found.items() if math.isfinite(value)}


def derived(trial: Trial, budget: Mapping[str, float]) -> dict[str, float]:
    """Return what the course of a training says beyond its logged totals."""
    training, validation, metrics = trial.training, trial.validation, trial.run.metrics
    result: dict[str, float] = {}
    if validation.height:
        result["val/last_loss"] = float(validation["loss"][-1])
        for name, axis in (("equal/samples_loss", "samples_seen"), ("equal/updates_loss", "update")):
            reached = validation.filter(pl.col(axis) <= budget[axis])["loss"]
            result[name] = float(reached.to_numpy().min()) if len(reached) else math.nan
        for column in ("loss", "return_rmse_error", "directional_accuracy"):
            result[f"steady/{column}"] = unsteadiness(validation, column)
    if training.height:
        result["steady/training_loss"] = unsteadiness(training, "loss")
        clip = float(trial.run.params.get("train.clip_norm", "inf"))
        result["total/clipped_share"] = float((training["grad_norm"].to_numpy() > clip).mean())
        noise = training["noise_scale"].drop_nulls()
        result["train/noise_scale"] = float(noise[-1]) if len(noise) else math.nan
    if metrics.get("total/seconds"):
        result["total/windows_per_second"] = metrics["total/samples_seen"] / metrics["total/seconds"]
    return result


def unsteadiness(course: pl.DataFrame, column: str) -> float:
    """Return the standard deviation of a curve about its own trend, over the last half of a training.

    From the differences of neighbours (von Neumann 1941), which a slow trend hardly enters.
    """
    seen = course["samples_seen"].to_numpy()
    late = course[column].to_numpy()[seen >= (1 - _LAST) * seen[-1]]
    late = late[np.isfinite(late)]
    return float(np.sqrt(np.mean(np.diff(late) ** 2) / 2)) if len(late) > 2 else math.nan


def averaged_like(detailed: pl.DataFrame, coarse: pl.DataFrame) -> pl.DataFrame:
    """Return the loss of `detailed` averaged over the windows of each update of `coarse`.

    Two trainings of one seed see the same windows in the same order, so what is left between the two curves
    is not that one averages more windows into a point than the other.
    """
    windows = np.diff(detailed["samples_seen"].to_numpy(), prepend=0.0)
    edges = coarse["samples_seen"].to_numpy()
    place = np.searchsorted(edges, detailed["samples_seen"].to_numpy() - 1e-9)
    inside = place < len(edges)
    weight = np.bincount(place[inside], windows[inside], len(edges))
    total = np.bincount(place[inside], (windows * detailed["loss"].to_numpy())[inside], len(edges))
    filled = weight > 0
    return pl.DataFrame({"samples_seen": edges[filled], "loss": total[filled] / weight[filled]})


def _last(column: pl.Series) -> float:
    return float(column[-1]) if len(column) else math.nan
