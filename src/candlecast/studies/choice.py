"""The value of the tuned parameter that an arm is confirmed at: of the lowest mean validation loss."""

import math
from collections.abc import Mapping
from statistics import fmean

from candlecast.errors import StudyError
from candlecast.studies.cells import Cell
from candlecast.studies.study import Study
from candlecast.tracking.identity import short_number

Losses = Mapping[str, float]  # cell's name -> validation loss
Means = dict[str, dict[float, float]]  # arm -> value -> mean over the tuning seeds


def mean_losses(study: Study, cells: list[Cell], losses: Losses) -> Means:
    """Return the mean over seeds of every tuned arm at every value.

    Raises
    ------
    StudyError
        A cell has no loss yet.
    """
    missing = [cell.name for cell in cells if cell.name not in losses]
    if missing:
        raise StudyError(
            f"{study.name}: {len(missing)} tuning cells are not done, {missing[0]} among them, and all are "
            "needed to choose; run: candlecast study run --phase tuning"
        )
    return {
        arm: {
            value: fmean(losses[cell.name] for cell in cells if (cell.arm, cell.value) == (arm, value))
            for value in study.tuning.values
        }
        for arm in study.tuned_arms
    }


def choose(study: Study, means: Means) -> dict[str, float]:
    """Return the value of the lowest mean for each arm, the smaller of two that tie.

    An arm that is tuned as another has the other's.
    """
    lowest = {arm: min(sorted(of_arm), key=lambda value: of_arm[value]) for arm, of_arm in means.items()}
    return {name: lowest[arm.tuned_as or name] for name, arm in study.arms.items()}


def check_inside(study: Study, chosen: Mapping[str, float]) -> None:
    """Raise `StudyError` when an optimum lies at the grid's edge, where a better value may lie beyond."""
    values = study.tuning.values
    beyond = {values[0]: "below", values[-1]: "above"}
    at_edge = [
        f"{arm} at {short_number(value)} (add values {beyond[value]} it)"
        for arm, value in chosen.items()
        if value in beyond and arm in study.tuned_arms
    ]
    if at_edge:
        raise StudyError(
            f"tuning.values: the lowest validation loss lies at the grid's edge for {', '.join(at_edge)}; "
            "widen the grid in the study's YAML and run again, which trains the new cells only, or go on "
            "with --accept-edge"
        )


def _shown(mean: float) -> str:
    return f"{mean:.4f}" if math.isfinite(mean) else "diverged"


def means_table(study: Study, means: Means, chosen: Mapping[str, float]) -> str:
    """Return the means as lines of text, the chosen one of each arm marked by a star."""
    width = max(map(len, means))
    head = " " * width + "".join(f"{short_number(value):>10}" for value in study.tuning.values)
    rows = [
        f"{arm:<{width}}"
        + "".join(
            f"{_shown(mean):>9}{'*' if value == chosen[arm] else ' '}" for value, mean in of_arm.items()
        )
        for arm, of_arm in means.items()
    ]
    return "\n".join(
        [f"mean {study.tuning.key} -> val/best_loss over {len(study.tuning.seeds)} seeds", head, *rows]
    )
