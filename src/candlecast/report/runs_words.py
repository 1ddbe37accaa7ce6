"""The tests over all runs of the span, in words."""

from candlecast.evaluation.claims import LOSSES
from candlecast.evaluation.evidence import LEVEL
from candlecast.evaluation.runs import RunsEvidence, RunsTested
from candlecast.report.scores import inside, p_value


def runs_sentences(runs: RunsEvidence, confidence: float) -> list[str]:
    """Return over how many runs was tested, and for each loss what came out."""
    if runs.runs == 1:
        return [_alone(runs.trainings)]
    return [_family(runs), *(_loss(loss, runs, confidence) for loss in LOSSES)]


def _alone(trainings: int) -> str:
    if trainings == 1:
        return (
            "When this was written it was the only finished training in the tracking store: there was no "
            "family of runs to test."
        )
    return (
        f"None of the {trainings - 1:,} other finished trainings in the tracking store left daily losses of "
        "this test span, so runs cannot be tested together; they count by their number."
    )


def _family(runs: RunsEvidence) -> str:
    lacking = runs.trainings - runs.runs
    rest = ""
    if lacking:
        rest = (
            f" The other {lacking:,} of {runs.trainings:,} finished trainings in the store left none "
            "(another span, horizon or data, or never evaluated, or older than the newest that are read); "
            "each counts as a question answered with p\u00a0=\u00a01."
        )
    return (
        f"{runs.runs:,} runs, this one included, left daily losses of these very windows and are tested as "
        f"one family.{rest}"
    )


def _loss(loss: str, runs: RunsEvidence, confidence: float) -> str:
    tested = runs.losses[loss]
    any_better = "some run is" if tested.any_better < LEVEL else "no run is shown to be"
    return (
        f"{LOSSES[loss].capitalize()}: {any_better} below {inside(tested.benchmark)}, the best baseline "
        f"({p_value(tested.any_better)}; Hansen's test of superior predictive ability over {runs.runs:,} "
        f"runs). {_found(tested, runs.trainings)} This run is number {tested.place:,} of {runs.runs:,} and "
        f"{_in_set(tested, runs, confidence)}."
    )


def _found(tested: RunsTested, trainings: int) -> str:
    each = f"below every baseline, by Holm over {trainings:,} trainings ({p_value(tested.adjusted)})"
    if tested.adjusted < LEVEL:
        return f"This run is {each}."
    others = {0: "nor is any other", 1: "one other run is"}.get(tested.found, f"{tested.found:,} others are")
    return f"This run is not shown to be {each}; {others}."


def _in_set(tested: RunsTested, runs: RunsEvidence, confidence: float) -> str:
    inside = "cannot be told from" if tested.set_p_value >= 1 - confidence else "is told from"
    baselines = len(tested.set_baselines)
    return (
        f"{inside} the best by the model confidence set at {confidence:.0%}, which keeps {tested.set_runs:,} "
        f"of {runs.runs:,} runs and {baselines} of the baselines"
    )
