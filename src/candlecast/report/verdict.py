"""What the numbers allow one to say, in words: never more than the intervals and the tests together."""

from typing import Any, Final

from candlecast.evaluation.evaluate import Metrics
from candlecast.evaluation.evidence import LEVEL, Evidence
from candlecast.report.scores import inside, share
from candlecast.report.tables import best_baseline

_R2: Final = "out_of_sample_r2_score"
# The direction and the size of the return: the score shown, and the daily loss that is tested.
_HEADLINES: Final = {
    "direction": ("directional_accuracy", "brier"),
    "size of the return": (_R2, "squared"),
}


def answer(evidence: Evidence | None) -> str:
    """Return one sentence: the page's headline.

    Skill is claimed only where the interval of the difference to the best baseline lies on the good side of
    zero *and* the loss is below every baseline's at 5 %, the number of trainings counted.
    """
    if evidence is None:
        return "This test span is too short to tell skill from luck."
    found = skills(evidence)
    worse = [what for what, (score, _) in _HEADLINES.items() if evidence.score(score).gain == -1]
    if found:
        return (
            f"Better than every baseline here in the {' and the '.join(found)}. One test span is one sample."
        )
    if len(worse) == len(_HEADLINES):
        return "Worse than the best baseline, in the direction and in the size of the return."
    if worse:
        return f"No skill beyond the baselines; worse than the best of them in the {worse[0]}."
    return "No skill beyond the baselines that this test span can tell from luck."


def skills(evidence: Evidence) -> tuple[str, ...]:
    """Return in what the network is better than every baseline, as `answer` claims it; mostly nothing."""
    return tuple(
        what
        for what, (score, loss) in _HEADLINES.items()
        if evidence.score(score).gain == 1 and evidence.beats_every_baseline(loss) < LEVEL
    )


def lead(metrics: Metrics) -> str:
    """Return the two headline scores beside the best baseline of each."""
    test: Any = metrics["test"]
    baselines: Any = metrics["baselines"]
    called = best_baseline(metrics, "directional_accuracy")
    sized = best_baseline(metrics, _R2)
    rival = baselines[called]["directional_accuracy"]
    same = test["directional_accuracy"] == rival
    beside = "just as often as" if same else f"against {share(rival)}"
    best = f"; that of the best baseline, {inside(sized)}, {_from_mean(baselines[sized][_R2])} it"
    return (
        f"The direction was called right in {share(test['directional_accuracy'])} of windows, {beside} by "
        f"the best baseline, {inside(called)}. The squared error of the return was {_from_mean(test[_R2])} "
        f"that of forecasting the training mean{', the best baseline' if sized == 'training_mean' else best}."
    )


def _from_mean(r2: float) -> str:
    """Say an R2 as how far a squared error lies from the training mean's."""
    if abs(r2) < 5e-5:
        return "equal to"
    return f"{abs(100 * r2):.2f}% {'below' if r2 > 0 else 'above'}"
