"""A study's question, answered by the rule that the study stated before it ran."""

from dataclasses import dataclass
from typing import Final

from candlecast.evaluation.bootstrap import Interval
from candlecast.evaluation.paired import detectable
from candlecast.studies.comparison import Comparison
from candlecast.studies.contrasts import Effect
from candlecast.studies.measures import Measure, measure
from candlecast.studies.study import Decision

# How a verdict reads in a headline; arm, against.
_HEADLINES: Final = {
    "better": "Yes: {arm} is better than {against}, by the rule stated beforehand.",
    "worse": "No: {arm} is worse than {against}, by the rule stated beforehand.",
    "equivalent": "No: {arm} and {against} are equally good, by the rule stated beforehand.",
    "undecided": "Undecided: {arm} may or may not differ from {against} by enough to matter.",
    "no data": "Not answered: {arm} and {against} have fewer than two seeds in common.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """The verdict and what it rests on."""

    verdict: str
    rule: Decision
    effect: Effect | None
    improvement: Interval | None  # positive where the rule's arm is better

    @property
    def headline(self) -> str:
        """Return the answer in a sentence."""
        return _HEADLINES[self.verdict].format(arm=self.rule.arm, against=self.rule.against)

    @property
    def sentence(self) -> str:
        """Return the numbers behind the answer."""
        rule, shown = self.rule, measure(self.rule.metric)
        if self.effect is None or self.improvement is None:
            return (
                f"The rule compares {lowered(shown)} ({rule.metric}), over seeds that both arms have; run "
                "what is missing with: candlecast study run"
            )
        gain = self.effect.paired.mean * (-1 if rule.direction == "lower" else 1)
        show = shown.show_difference
        return (
            f"{rule.metric}: the improvement of {rule.arm} on {rule.against} is {show(gain)}, "
            f"{rule.confidence:.0%} interval {show(self.improvement.low)} to {show(self.improvement.high)}, "
            f"over {self.effect.paired.pairs} paired seeds. The rule asked for an interval wholly above "
            f"{show(rule.smallest_effect)} for better, wholly below {show(-rule.smallest_effect)} for worse, "
            "wholly between the two for equally good."
        )


def judge(comparison: Comparison) -> Judgement | None:
    """Apply a study's rule; None where there is no study."""
    if comparison.study is None:
        return None
    rule = comparison.study.decision
    effect = next(
        (
            contrast.effects.get(rule.metric)
            for contrast in comparison.contrasts
            if (contrast.arm, contrast.against) == (rule.arm, rule.against)
        ),
        None,
    )
    interval = None if effect is None else effect.paired.interval
    if interval is None:
        return Judgement(verdict="no data", rule=rule, effect=effect, improvement=None)
    improvement = Interval(-interval.high, -interval.low) if rule.direction == "lower" else interval
    verdict = rule.verdict(improvement.low, improvement.high)
    return Judgement(verdict=verdict, rule=rule, effect=effect, improvement=improvement)


def lowered(shown: Measure) -> str:
    """Return a measure's label as it stands within a sentence."""
    label = shown.label
    return label if label[1].isupper() else label[0].lower() + label[1:]


def power_sentence(pairs: int) -> str:
    """Say how little a number of seeds can tell."""
    if pairs < 2:
        return "One pair of runs is an anecdote: it has no interval and no test."
    finest = 2.0 ** (1 - pairs)
    return (
        f"What {pairs} seeds can tell: a mean difference of {detectable(pairs):.1f} times the spread of the "
        f"differences would be found four times in five, a smaller one mostly missed. A test that assumes "
        f"nothing but symmetry can give no p-value below {finest:.3g} with {pairs} pairs; Student's t can, "
        "by taking the differences as normal. The bootstrap has few values to draw from and is then too "
        "narrow: it stands beside the t interval to show where the two disagree. All seeds share one split "
        "of one history, so the interval speaks of other seeds, not of other years or markets."
    )
