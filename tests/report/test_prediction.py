from dataclasses import replace

import pytest
from forecasting.made import Made, make_forecaster

from candlecast.report.prediction import evidence_lines


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    return make_forecaster(tmp_path_factory.mktemp("made"))


def test_a_score_is_set_against_the_best_baseline_s_in_a_plain_sentence(made: Made) -> None:
    card = made.forecaster.card
    _, accuracy = evidence_lines(card)
    assert accuracy == (
        "  Directional accuracy 54.1% (95% interval 47.5% to 60.9%). The best baseline, training mean and "
        "majority, has 54.1%: a difference of +0.00 percentage points (95% interval \u22121.00 to +2.00)."
    )


def test_calls_that_are_the_baseline_s_own_are_said_to_be_the_same(made: Made) -> None:
    card = made.forecaster.card
    (score,) = card.proof.scores
    same = replace(score, difference_low=0.0, difference_high=0.0)
    _, accuracy = evidence_lines(replace(card, proof=replace(card.proof, scores=(same,))))
    assert accuracy.endswith("The best baseline, training mean and majority, has exactly the same.")
