from dataclasses import replace

import pytest

from candlecast.evaluation.runs import RunsEvidence, RunsTested
from candlecast.report.runs_words import runs_sentences

NOTHING = RunsTested(
    benchmark="training_mean",
    any_better=0.4,
    place=3,
    p_value=0.2,
    adjusted=1.0,
    found=0,
    set_p_value=0.6,
    set_runs=7,
    set_baselines=("training_mean", "zero_return"),
)


def evidence(tested: RunsTested = NOTHING, runs: int = 7, trainings: int = 7) -> RunsEvidence:
    return RunsEvidence(runs=runs, trainings=trainings, losses={"squared": tested, "brier": tested})


def said(found: RunsEvidence) -> str:
    return " ".join(runs_sentences(found, 0.95)).replace("\u00a0", " ")


def test_nothing_is_claimed_where_no_test_over_the_runs_rejects():
    text = said(evidence())
    assert "7 runs, this one included" in text
    assert "no run is shown to be below training mean and majority, the best baseline (p = 0.40" in text
    assert (
        "This run is not shown to be below every baseline, by Holm over 7 trainings (p = 1.00); nor" in text
    )
    assert "number 3 of 7 and cannot be told from the best" in text
    assert "keeps 7 of 7 runs and 2 of the baselines" in text


def test_what_the_family_shows_is_said():
    found = replace(NOTHING, any_better=0.004, adjusted=0.03, found=1, set_p_value=1.0, place=1)
    text = said(evidence(found, runs=7, trainings=11))
    assert "some run is below training mean" in text
    assert "This run is below every baseline, by Holm over 11 trainings (p = 0.03)." in text
    assert "The other 4 of 11 finished trainings in the store left none" in text


def test_another_run_s_skill_is_not_this_one_s():
    found = replace(NOTHING, any_better=0.004, found=1, set_p_value=0.01)
    text = said(evidence(found))
    assert "This run is not shown to be below every baseline" in text
    assert "one other run is" in text
    assert "is told from the best" in text


@pytest.mark.parametrize(
    ("trainings", "start"),
    [
        (1, "When this was written it was the only finished training in the tracking store"),
        (5, "None of the 4 other finished trainings"),
    ],
)
def test_a_run_without_comparable_ones_says_so(trainings, start):
    (sentence,) = runs_sentences(evidence(runs=1, trainings=trainings), 0.95)
    assert sentence.startswith(start)
