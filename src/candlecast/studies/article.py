"""The claims of the article that the project grew from, each beside what the runs say of it."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np

from candlecast.evaluation.bootstrap import Interval
from candlecast.evaluation.paired import PairedEffect, paired_effect, spread_ratio
from candlecast.report.scores import p_value
from candlecast.studies.coincidence import coincidence, largest_gap
from candlecast.studies.comparison import Comparison
from candlecast.studies.contrasts import Pair, units
from candlecast.studies.measures import averaged_like, unsteadiness
from candlecast.studies.roles import Roles
from candlecast.training.memory import MemorySplit
from candlecast.training.memory_plan import format_size

Word = Literal["holds", "holds nearly", "averaging alone", "not shown", "refuted", "not measured"]

ROUNDING: Final = 1e-4  # relative, of a gradient's norm in float32 and over many windows
NEARLY_NOTHING: Final = 0.25  # share of the large batch's extra memory that still counts as little


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """What the article says, what was measured, how sure that is, and the verdict in a word."""

    says: str
    figure: str
    interval: str
    word: Word


@dataclass(frozen=True, slots=True, kw_only=True)
class Ratio:
    """A paired ratio of two positive numbers, over seeds."""

    value: float
    interval: Interval | None
    effect: PairedEffect  # of the logarithms

    def __str__(self) -> str:
        return f"{self.value:.2f}"

    @property
    def shown(self) -> str:
        """Return the interval and the test in words."""
        if self.interval is None or self.effect.p_value is None:
            return "one pair, no interval"
        return f"{self.interval.low:.2f} to {self.interval.high:.2f}; {p_value(self.effect.p_value)}"

    @property
    def below(self) -> bool:
        """Whether the whole interval lies below 1."""
        return self.interval is not None and self.interval.high < 1

    @property
    def above(self) -> bool:
        """Whether the whole interval lies above 1."""
        return self.interval is not None and self.interval.low > 1


def ratio(ours: Mapping[Pair, float], theirs: Mapping[Pair, float], confidence: float) -> Ratio | None:
    """Return the geometric mean of ours / theirs over pairs; None where no pair has two positive numbers."""
    logarithms = {
        pair: math.log(ours[pair] / theirs[pair])
        for pair in sorted(ours.keys() & theirs.keys())
        if ours[pair] > 0 and theirs[pair] > 0
    }
    if not logarithms:
        return None
    effect = paired_effect(units(logarithms), confidence)
    interval = effect.interval
    return Ratio(
        value=math.exp(effect.mean),
        interval=None if interval is None else Interval(math.exp(interval.low), math.exp(interval.high)),
        effect=effect,
    )


def article_claims(
    comparison: Comparison, roles: Roles, peaks: Mapping[str, MemorySplit]
) -> tuple[Claim, ...]:
    """Return the article's claims in its order."""
    return (
        memory_claim(roles, peaks),
        gradient_claim(comparison, roles),
        *smoothness_claims(comparison, roles),
        *steadiness_claims(comparison, roles),
    )


def memory_claim(roles: Roles, peaks: Mapping[str, MemorySplit]) -> Claim:
    """Memory depends on the micro-batch, not on the effective batch."""
    says = "Memory depends on the micro-batch only"
    large = roles.large
    if large is None or not {roles.small, roles.accumulated, large} <= set(peaks):
        return Claim(
            says=says, figure="no arm takes the large batch at once", interval="", word="not measured"
        )
    small, accumulated, whole = (peaks[arm] for arm in (roles.small, roles.accumulated, large))
    extra = (accumulated.total - small.total) / (whole.total - small.total)
    same = accumulated.activations == small.activations
    return Claim(
        says=says,
        figure=(
            f"predicted peak {format_size(small.total)} small, {format_size(accumulated.total)} accumulated, "
            f"{format_size(whole.total)} large: {extra:.1%} of the large batch's extra, "
            f"{'all of it the waiting inputs; the activations are equal' if same else 'activations included'}"
        ),
        interval="exact by the plan",
        word="holds" if same and extra < 0.01 else "holds nearly" if extra < NEARLY_NOTHING else "refuted",
    )


def gradient_claim(comparison: Comparison, roles: Roles) -> Claim:
    """Accumulated gradients are those of the large batch, so that whole trainings coincide."""
    says = "Accumulated gradients equal the large batch's"
    apart = None if roles.large is None else coincidence(comparison, roles.accumulated, roles.large)
    if apart is None:
        return Claim(says=says, figure="no pair of runs to hold together", interval="", word="not measured")
    kept = all(
        largest <= control.tolerance
        for control in (comparison.study.controls if comparison.study else ())
        if (largest := largest_gap(comparison, control.metric, control.arm, control.against)) is not None
    )
    same = apart.first <= ROUNDING
    return Claim(
        says=says,
        figure=(
            f"norm of the first gradient within {apart.first:.0e} of itself; over whole trainings rounding "
            f"grows to {apart.training:.0e} in the training loss and {apart.validation:.0e} in the "
            "validation loss"
        ),
        interval=f"largest of {apart.pairs} pairs",
        word="holds" if same and kept else "holds nearly" if same else "refuted",
    )


def smoothness_claims(comparison: Comparison, roles: Roles) -> tuple[Claim, ...]:
    """The training curve is smoother, as drawn and when both arms average the same windows into a point."""
    small, accumulated = ({t.pair: t for t in comparison.of(arm)} for arm in (roles.small, roles.accumulated))
    both = small.keys() & accumulated.keys()
    ours = {pair: unsteadiness(accumulated[pair].training, "loss") for pair in both}
    as_drawn = ratio(
        ours, {pair: unsteadiness(small[pair].training, "loss") for pair in both}, comparison.confidence
    )
    like = {
        pair: unsteadiness(averaged_like(small[pair].training, accumulated[pair].training), "loss")
        for pair in both
    }
    alike = ratio(ours, like, comparison.confidence)
    if as_drawn is None or alike is None:
        return (Claim(says="The loss curve is smoother", figure="no pair", interval="", word="not measured"),)
    explained = min(max(1 - math.log(alike.value) / math.log(as_drawn.value), 0.0), 1.0)
    word: Word = "not shown"
    if as_drawn.below:
        word = "holds" if alike.below else "averaging alone"
    return (
        Claim(
            says="The loss curve is smoother, as it is drawn",
            figure=f"scatter of the training loss {as_drawn} times the small batch's",
            interval=as_drawn.shown,
            word=word,
        ),
        Claim(
            says="... when both curves average the same windows into a point",
            figure=f"{alike} times; averaging explains {explained:.0%} of the difference",
            interval=alike.shown,
            word="holds" if alike.below else "refuted" if alike.above else "not shown",
        ),
    )


def steadiness_claims(comparison: Comparison, roles: Roles) -> tuple[Claim, ...]:
    """Return and direction are forecast more steadily: along a training, and over seeds."""
    claims = []
    for what, column, score in (
        ("return", "return_rmse_error", "test/root_mean_squared_error"),
        ("direction", "directional_accuracy", "test/directional_accuracy"),
    ):
        claims += [
            _along(comparison, roles, what, column),
            _over_seeds(comparison, roles, f"the {what} on the test span", score),
        ]
    return tuple(claims)


def _along(comparison: Comparison, roles: Roles, what: str, column: str) -> Claim:
    says = f"Validation of the {what} is steadier from one validation to the next"
    ours, theirs = (
        comparison.table[arm].get(f"steady/{column}", {}) for arm in (roles.accumulated, roles.small)
    )
    found = ratio(ours, theirs, comparison.confidence)
    if found is None:
        return Claim(says=says, figure="no pair of runs", interval="", word="not measured")
    return Claim(
        says=says,
        figure=f"scatter {found} times the small batch's",
        interval=found.shown,
        word="holds" if found.below else "refuted" if found.above else "not shown",
    )


def _over_seeds(comparison: Comparison, roles: Roles, what: str, score: str) -> Claim:
    says = f"... and {what} differs less between seeds"
    ours, theirs = (comparison.table[arm].get(score, {}) for arm in (roles.accumulated, roles.small))
    pairs = sorted(ours.keys() & theirs.keys())
    if len(pairs) < 3:
        return Claim(says=says, figure="fewer than three pairs", interval="", word="not measured")
    one, other = _seeds(ours, pairs), _seeds(theirs, pairs)
    if np.std(one) == 0 or np.std(other) == 0:
        return Claim(
            says=says, figure="the same in every seed of an arm", interval="no interval", word="not shown"
        )
    spread = spread_ratio(one, other, comparison.confidence)
    low, high = spread.interval.low, spread.interval.high
    return Claim(
        says=says,
        figure=f"standard deviation over {len(one)} seeds {spread.ratio:.2f} times the small batch's",
        interval=f"{low:.2f} to {high:.2f}; {p_value(spread.p_value)}",
        word="holds" if high < 1 else "refuted" if low > 1 else "not shown",
    )


def _seeds(values: Mapping[Pair, float], pairs: Sequence[Pair]) -> list[float]:
    return units({pair: values[pair] for pair in pairs})
