"""What the numbers allow one to say, in words: never more than the intervals and the tests together."""

from typing import Any, Final

from candlecast.evaluation.evaluate import Metrics
from candlecast.evaluation.evidence import LEVEL, Evidence
from candlecast.report.scores import label, percent, share
from candlecast.report.tables import best_baseline

# The direction and the size of the return: the score shown, and the daily loss that is tested.
_HEADLINES: Final = {
    "direction": ("directional_accuracy", "brier"),
    "size of the return": ("out_of_sample_r2_score", "squared"),
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
    sized = best_baseline(metrics, "out_of_sample_r2_score")
    return (
        f"The direction was called right in {share(test['directional_accuracy'])} of windows; the best "
        f"baseline ({label(called)}) reached {share(baselines[called]['directional_accuracy'])}. The return "
        f"forecast removed {percent(test['out_of_sample_r2_score'])} of the training mean's squared error; "
        f"the best baseline ({label(sized)}) {percent(baselines[sized]['out_of_sample_r2_score'])}."
    )
