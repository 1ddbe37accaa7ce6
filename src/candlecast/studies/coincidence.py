"""How far two arms are apart that should coincide, run by run."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

from candlecast.studies.comparison import Comparison
from candlecast.studies.measures import MEASURES
from candlecast.studies.trials import Trial

_KNOWN: Final = frozenset(measure.name for measure in MEASURES)


def largest_gap(comparison: Comparison, metric: str, arm: str, against: str) -> float | None:
    """Return the largest difference of a metric between paired runs of two arms; None where none pair."""
    ours, theirs = (comparison.table.get(name, {}).get(metric, {}) for name in (arm, against))
    return max((abs(ours[pair] - theirs[pair]) for pair in ours.keys() & theirs.keys()), default=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Coincidence:
    """The largest differences between paired trainings of two arms."""

    pairs: int
    first: float  # of the first update's gradient norm, relative to it
    training: float  # of the training loss, over all updates
    validation: float  # of the validation loss, over all validations
    scores: Mapping[str, float]  # of each test score


def coincidence(comparison: Comparison, arm: str, against: str) -> Coincidence | None:
    """Return how far paired trainings of two arms are apart at most; None where none pair."""
    theirs = {trial.pair: trial for trial in comparison.of(against)}
    pairs = [(trial, theirs[trial.pair]) for trial in comparison.of(arm) if trial.pair in theirs]
    if not pairs:
        return None
    scores = {
        name: gap
        for name in comparison.table[arm]
        if name.startswith("test/")
        and name in _KNOWN
        and (gap := largest_gap(comparison, name, arm, against)) is not None
    }
    return Coincidence(
        pairs=len(pairs),
        first=max(
            abs(one.training["grad_norm"][0] / other.training["grad_norm"][0] - 1) for one, other in pairs
        ),
        training=max(_apart(one, other, "training") for one, other in pairs),
        validation=max(_apart(one, other, "validation") for one, other in pairs),
        scores=scores,
    )


def _apart(one: Trial, other: Trial, part: Literal["training", "validation"]) -> float:
    ours, theirs = getattr(one, part), getattr(other, part)
    joined = ours.join(theirs, on="update", suffix="_other")
    if joined.is_empty():
        return math.inf
    return float((joined["loss"] - joined["loss_other"]).abs().to_numpy().max())
