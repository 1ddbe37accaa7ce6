"""The figures of a comparison, from its trials."""

from collections.abc import Iterator

import numpy as np
import polars as pl

from candlecast.report.comparison_figures import Averaged, Axis, Curve, Gap, averaging, forest, seed_bands
from candlecast.report.drawing import Drawing
from candlecast.studies.comparison import Comparison
from candlecast.studies.contrasts import units
from candlecast.studies.measures import averaged_like, measure
from candlecast.studies.roles import Roles
from candlecast.studies.trials import Trial

_SMOOTHED = 50  # bins of equal windows into which a training loss is averaged to be drawn


def course_drawings(comparison: Comparison) -> Iterator[Drawing]:
    """Draw validation loss against windows, updates and seconds, and the training loss against windows."""
    several = any(len(comparison.of(arm)) > 1 for arm in comparison.arms)
    band = "The band is the range over seeds." if several else "One training an arm."
    for column, axis in (
        ("samples_seen", Axis(name="validation-windows", label="windows seen")),
        ("update", Axis(name="validation-updates", label="updates", logarithmic=True)),
        ("seconds", Axis(name="validation-seconds", label="seconds")),
    ):
        curves = {
            arm: drawn
            for arm in comparison.arms
            if (
                drawn := [
                    _curve(trial.validation, column)
                    for trial in comparison.of(arm)
                    if trial.validation.height
                ]
            )
        }
        if curves:
            yield seed_bands(curves, axis, "validation loss", band)
    smoothed = {
        arm: drawn
        for arm in comparison.arms
        if (drawn := [_binned(trial) for trial in comparison.of(arm) if trial.training.height])
    }
    if smoothed:
        yield seed_bands(
            smoothed,
            Axis(name="training-windows", label="windows seen"),
            "training loss",
            f"Averaged over the same {_SMOOTHED} stretches of windows in every arm. {band}",
        )


def differences_drawing(comparison: Comparison, name: str) -> Drawing | None:
    """Draw the paired differences of one measure; None where no contrast has two pairs."""
    gaps = [
        Gap(
            name=contrast.name,
            differences=units(effect.differences),
            mean=effect.paired.mean,
            interval=effect.paired.interval,
        )
        for contrast in comparison.contrasts
        if (effect := contrast.effects.get(name)) is not None
    ]
    if not any(len(gap.differences) > 1 for gap in gaps):
        return None
    rule = comparison.study.decision if comparison.study else None
    matters = rule.smallest_effect if rule and rule.metric == name else None
    shown = measure(name)
    sense = "" if shown.better == "neither" else f" ({shown.better} is better)"
    return forest(gaps, f"difference of {name}{sense}", matters)


def averaging_drawing(comparison: Comparison, roles: Roles) -> Drawing | None:
    """Draw one seed's training loss as logged and averaged alike; None where no seed has both arms."""
    small, many = (
        {trial.pair: trial for trial in comparison.of(arm)} for arm in (roles.small, roles.accumulated)
    )
    for pair, fine in small.items():
        if pair in many and fine.training.height and many[pair].training.height:
            coarse = many[pair].training
            return averaging(
                Averaged(
                    few=roles.small,
                    many=roles.accumulated,
                    raw=_curve(fine.training, "samples_seen"),
                    averaged=_curve(averaged_like(fine.training, coarse), "samples_seen"),
                    whole=_curve(coarse, "samples_seen"),
                    windows=int(np.median(np.diff(coarse["samples_seen"].to_numpy(), prepend=0.0))),
                )
            )
    return None


def _curve(frame: pl.DataFrame, column: str) -> Curve:
    return frame[column].to_numpy().astype(float), frame["loss"].to_numpy().astype(float)


def _binned(trial: Trial) -> Curve:
    seen = trial.training["samples_seen"].to_numpy()
    edges = np.linspace(0, seen[-1], _SMOOTHED + 1)[1:]
    means = averaged_like(trial.training, pl.DataFrame({"samples_seen": edges}))
    return _curve(means, "samples_seen")
