import re

import pytest

from candlecast.evaluation.evaluate import select
from candlecast.report.verdict import verdict


def say(inputs, **test):
    metrics = {**inputs.metrics, "test": {**inputs.metrics["test"], **test}}
    return verdict(metrics, select(inputs.forecasts, "candlecast", "test"), 5)


def test_behind_on_both_is_no_skill(inputs):
    answer, *_ = say(inputs, directional_accuracy=0.4, out_of_sample_r2_score=-0.1)
    assert answer.startswith("No skill beyond the baselines, neither")


@pytest.mark.parametrize("accuracy", [0.4, 0.55])
def test_a_small_lead_is_not_called_skill(inputs, accuracy):
    answer, *_ = say(inputs, directional_accuracy=accuracy, out_of_sample_r2_score=0.001)
    assert "could tell from luck" in answer


def test_a_large_lead_is_stated_with_its_limit(inputs):
    answer, *_ = say(inputs, directional_accuracy=0.9, out_of_sample_r2_score=0.3)
    assert "One test span is one sample" in answer


def test_the_uncertainty_counts_independent_outcomes_not_windows(inputs):
    text = " ".join(say(inputs))
    assert re.search(r"420 days hold about 84 independent outcomes", text)
