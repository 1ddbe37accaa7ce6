"""Two arms set against each other, seed by seed and fold by fold."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Final

import numpy as np

from candlecast.evaluation.paired import PairedEffect, paired_effect
from candlecast.evaluation.significance import holm
from candlecast.studies.measures import MEASURES, values
from candlecast.studies.trials import Trial

Pair = tuple[int, int]  # seed, fold
Values = Mapping[str, Mapping[str, Mapping[Pair, float]]]  # arm -> measure -> pair -> value

MANY_ARMS: Final = 4  # above it every arm is set against the first alone


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """The difference of one measure, arm less against."""

    measure: str
    differences: Mapping[Pair, float]
    paired: PairedEffect
    level: float  # below which a p-value counts
    adjusted: float | None = None  # p-value after Holm over the contrasts

    @property
    def larger(self) -> int:
        """Return 1 or -1 where the difference is shown, Holm's adjustment included, and 0 where it is not."""
        shown = self.paired.p_value if self.adjusted is None else self.adjusted
        if shown is None or shown >= self.level:
            return 0
        return 1 if self.paired.mean > 0 else -1


@dataclass(frozen=True, slots=True, kw_only=True)
class Contrast:
    """All measures of two arms."""

    arm: str
    against: str
    effects: Mapping[str, Effect]

    @property
    def name(self) -> str:
        """Return both arms, the one whose excess is positive first."""
        return f"{self.arm} \u2212 {self.against}"


def all_values(trials: Sequence[Trial], budget: Mapping[str, float]) -> Values:
    """Return every measure of every trial."""
    table: dict[str, dict[str, dict[Pair, float]]] = {}
    for trial in trials:
        for name, value in values(trial, budget).items():
            table.setdefault(trial.arm, {}).setdefault(name, {})[trial.pair] = value
    return table


def opposed(
    arms: Sequence[str], twins: Sequence[str], first: tuple[str, str] | None
) -> list[tuple[str, str]]:
    """Return which arms are set against which: all but twins, `first` at the head.

    Of few arms every two are compared, of many each with the first alone. A twin must coincide with another
    arm, which says all there is to say of it.
    """
    distinct = [arm for arm in arms if arm not in twins]
    if len(distinct) <= MANY_ARMS:
        chosen = [(later, earlier) for earlier, later in combinations(distinct, 2)]
    else:
        chosen = [(arm, distinct[0]) for arm in distinct[1:]]
    if first is not None:
        chosen = [first, *(pair for pair in chosen if set(pair) != set(first))]
    return chosen


def contrast(
    table: Values, arm: str, against: str, confidence: float, names: Sequence[str] | None = None
) -> Contrast:
    """Return the effects on all measures that both arms have in at least one pair."""
    ours, theirs = table.get(arm, {}), table.get(against, {})
    wanted = names if names is not None else [measure.name for measure in MEASURES]
    effects = {}
    for name in wanted:
        pairs = sorted(ours.get(name, {}).keys() & theirs.get(name, {}).keys())
        if pairs:
            differences = {pair: ours[name][pair] - theirs[name][pair] for pair in pairs}
            effects[name] = Effect(
                measure=name,
                differences=differences,
                paired=paired_effect(units(differences), confidence),
                level=1 - confidence,
            )
    return Contrast(arm=arm, against=against, effects=effects)


def units(differences: Mapping[Pair, float]) -> list[float]:
    """Return one difference a seed, the mean over its folds; of one seed alone, one a fold.

    Folds of one seed share its luck and seeds of one fold share its market, so counting every pair as one
    more would make the interval too narrow.
    """
    seeds = sorted({seed for seed, _ in differences})
    if len(seeds) == 1:
        return list(differences.values())
    return [
        float(np.mean([value for (seed, _), value in differences.items() if seed == each])) for each in seeds
    ]


def adjusted(contrasts: Sequence[Contrast]) -> list[Contrast]:
    """Return the contrasts with each measure's p-values adjusted over them by Holm."""
    changed = {each.name: dict(each.effects) for each in contrasts}
    for name in {name for each in contrasts for name in each.effects}:
        p_values = {
            each.name: effect.paired.p_value
            for each in contrasts
            if (effect := each.effects.get(name)) is not None and effect.paired.p_value is not None
        }
        for contrast_name, value in holm(p_values).items():
            changed[contrast_name][name] = replace(changed[contrast_name][name], adjusted=value)
    return [replace(each, effects=changed[each.name]) for each in contrasts]


def unpaired(trials: Sequence[Trial], arm: str, against: str) -> list[str]:
    """Say which seeds and folds one of two arms lacks."""
    ours = {trial.pair for trial in trials if trial.arm == arm}
    theirs = {trial.pair for trial in trials if trial.arm == against}
    folds = {fold for _, fold in ours | theirs}
    return [
        f"seed {seed}{f', fold {fold}' if len(folds) > 1 else ''} was trained as {has} and not as {lacks}; "
        "it enters no difference between them"
        for has, lacks, pairs in ((arm, against, ours - theirs), (against, arm, theirs - ours))
        for seed, fold in sorted(pairs)
    ]
