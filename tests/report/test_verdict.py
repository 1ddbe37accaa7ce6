from dataclasses import replace

import pytest

from candlecast.evaluation.bootstrap import Interval
from candlecast.report.verdict import answer, lead

ABOVE, AROUND, BELOW = Interval(0.01, 0.05), Interval(-0.02, 0.03), Interval(-0.05, -0.01)


def evidence_with(inputs, direction: Interval, size: Interval, p_value: float, trials: int = 1):
    """Return the evidence with the two headline differences, and the p-value of every loss, as given."""
    evidence = inputs.assessment.evidence
    chosen = {"directional_accuracy": direction, "out_of_sample_r2_score": size}
    scores = tuple(
        replace(
            score,
            difference=(chosen[score.name].low + chosen[score.name].high) / 2,
            difference_interval=chosen[score.name],
        )
        if score.name in chosen
        else score
        for score in evidence.scores
    )
    claims = tuple(replace(claim, p_value=p_value) for claim in evidence.claims)
    return replace(evidence, scores=scores, claims=claims, trials=trials)


@pytest.mark.parametrize(
    ("direction", "size", "p_value", "trials", "said"),
    [
        (AROUND, AROUND, 0.4, 1, "No skill beyond the baselines that this test span can tell from luck."),
        (
            ABOVE,
            AROUND,
            0.001,
            1,
            "Better than every baseline here in the direction. One test span is one sample.",
        ),
        (
            ABOVE,
            ABOVE,
            0.001,
            1,
            "Better than every baseline here in the direction and the size of the return. One",
        ),
        (ABOVE, ABOVE, 0.2, 1, "No skill beyond the baselines that this test span can tell from luck."),
        (ABOVE, ABOVE, 0.001, 100, "No skill beyond the baselines that this test span can tell from luck."),
        (
            BELOW,
            AROUND,
            0.9,
            1,
            "No skill beyond the baselines; worse than the best of them in the direction.",
        ),
        (
            BELOW,
            BELOW,
            0.9,
            1,
            "Worse than the best baseline, in the direction and in the size of the return.",
        ),
    ],
)
def test_the_headline_claims_what_interval_and_tests_allow(inputs, direction, size, p_value, trials, said):
    assert answer(evidence_with(inputs, direction, size, p_value, trials)).startswith(said)


def test_a_span_too_short_claims_nothing(inputs):
    assert answer(None) == "This test span is too short to tell skill from luck."


def test_the_lead_names_the_best_baseline_of_each_score(inputs):
    metrics = {
        "test": {"directional_accuracy": 0.512, "out_of_sample_r2_score": -0.01},
        "validation": {},
        "baselines": {
            "zero_return": {"directional_accuracy": 0.47, "out_of_sample_r2_score": -0.002},
            "ridge_logistic": {"directional_accuracy": 0.53, "out_of_sample_r2_score": -0.03},
        },
    }
    text = lead(metrics)
    assert "in 51.2% of windows, against 53.0% by the best baseline, ridge and logistic regression." in text
    assert (
        "return was 1.00% above that of forecasting the training mean; that of the best baseline, zero "
        "return, 0.20% above it." in text
    )


def test_the_lead_says_when_the_network_called_what_a_baseline_did():
    same = {"directional_accuracy": 0.541, "out_of_sample_r2_score": 0.0}
    text = lead({"test": same, "validation": {}, "baselines": {"training_mean": same}})
    assert "just as often as by the best baseline, training mean and majority" in text
    assert "was equal to that of forecasting the training mean, the best baseline." in text
