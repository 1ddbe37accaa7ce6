from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from candlecast.evaluation.bootstrap import Interval
from candlecast.evaluation.calibration import Power
from candlecast.evaluation.evaluate import select
from candlecast.report import sentences


def with_p(inputs, p_value: float):
    evidence = inputs.assessment.evidence
    claims = tuple(replace(claim, p_value=p_value, adjusted=p_value) for claim in evidence.claims)
    return replace(evidence, claims=claims, trials=1)


def plain(lines) -> str:
    return " ".join(lines).replace("\u00a0", " ")


def test_nothing_is_claimed_where_no_test_rejects(inputs):
    text = plain(sentences.claim_sentences(with_p(inputs, 0.5)))
    assert "are not shown to have come more often when up was called" in text
    assert "shown for none" in text
    assert "is not shown to be above 0" in text
    assert "below that of" not in text.replace("not shown to be below that of", "")
    assert "below every one of them: p = 0.50" in text
    assert "No forecast here is shown to be below the training mean" in text


def test_what_tests_reject_is_said(inputs):
    text = plain(sentences.claim_sentences(with_p(inputs, 0.0004)))
    assert "ups came more often when up was called (p < 0.001" in text
    assert "shown for AAPL, GOOG, IBM, MSFT" in text
    assert "is below that of training mean and majority (p < 0.001)" in text
    assert "Some forecast here is below the training mean" in text
    assert "not shown" not in text


def test_every_family_of_claims_has_its_sentence(inputs):
    lines = sentences.claim_sentences(inputs.assessment.evidence)
    for start in ("Direction:", "The same", "Order of tickers", "The squared"):
        assert any(line.startswith(start) for line in lines), start
    assert any("Hansen's test" in line and "model confidence set" in line for line in lines)


def test_two_losses_with_the_same_answers_are_told_once_with_both_p_values(inputs):
    evidence = inputs.assessment.evidence
    sets = {loss: dict.fromkeys(("candlecast", "training_mean"), 0.5) for loss in evidence.confidence_sets}
    claims = tuple(
        replace(claim, p_value=p, adjusted=p)
        for claim in evidence.claims
        for p in [0.25 if claim.family == "brier" else 0.5]
    )
    *_, first, second = sentences.claim_sentences(
        replace(evidence, claims=claims, confidence_sets=sets, trials=1)
    )
    assert first.startswith("The squared error of the return is not shown")
    said = second.replace("\u00a0", " ")
    assert (
        said
        == "All of this holds for the squared error of the probability too, where the p-values are: p = 0.25 "
        "against the 5 baselines, at the smallest; p = 0.25 against all of them together; p = 0.50 in "
        "Hansen's test."
    )
    other = {**sets, "brier": {"candlecast": 0.0, "training_mean": 1.0}}
    *_, second = sentences.claim_sentences(replace(evidence, claims=claims, confidence_sets=other, trials=1))
    assert "leaves the network out" in second


@pytest.mark.parametrize(
    ("network", "rival", "said"),
    [
        (0.5, 0.4, "keeps the network, with training mean and majority."),
        (0.5, 0.0, "keeps the network alone."),
        (0.0, 1.0, "leaves the network out and keeps training mean and majority."),
    ],
)
def test_who_cannot_be_told_from_the_best_is_said(inputs, network, rival, said):
    evidence = inputs.assessment.evidence
    sets = {key: {"candlecast": network, "training_mean": rival} for key in evidence.confidence_sets}
    lines = sentences.claim_sentences(replace(evidence, confidence_sets=sets))
    assert any(f"The model confidence set {said}" in line for line in lines)


@pytest.mark.parametrize(
    ("trials", "said"), [(1, "the only finished training"), (12, "holds 12 finished trainings")]
)
def test_the_number_of_trainings_is_said(inputs, trials, said):
    assert said in sentences.method_sentence(replace(inputs.assessment.evidence, trials=trials))


def test_the_power_is_said_as_an_accuracy(inputs):
    power = Power(standard_error=0.024, detectable_accuracy=0.56)
    text = sentences.power_sentence(inputs.assessment.evidence, power)
    assert "would be right in 45.3% to 54.7% of windows, 19 times in 20" in text
    assert "A true accuracy of 56.0% would be found four times in five, one of 52.0% mostly missed" in text


def test_calls_in_one_direction_only_are_said_and_not_tested(inputs):
    test = select(inputs.forecasts, "candlecast", "test")
    assert sentences.one_sided_sentence(test) is None
    always = test.with_columns(probability_up=pl.lit(0.6))
    assert "called up in every window" in sentences.one_sided_sentence(always)
    evidence = inputs.assessment.evidence
    claims = tuple(
        replace(claim, statistic=0.0, p_value=1.0) if claim.family in {"direction", "ticker"} else claim
        for claim in evidence.claims
    )
    lines = sentences.claim_sentences(replace(evidence, claims=claims))
    assert lines[0].startswith("Direction: nothing to test")
    assert not [line for line in lines if "ticker by ticker" in line]


def test_a_strategy_that_lost_before_costs_has_no_break_even(inputs):
    economics = inputs.assessment.economics
    losing = tuple(replace(path, gross=-abs(path.gross)) for path in economics.paths)
    *lines, market = sentences.economics_sentences(replace(economics, paths=losing), 0.95)
    assert len(lines) == 3
    assert all("there was nothing before costs" in line for line in lines)
    assert market.startswith("What always long returned is the market's")


def test_strategies_that_were_the_same_every_day_are_told_once(inputs):
    economics = inputs.assessment.economics
    market = economics.paths[2]
    equal = tuple(replace(market, strategy=path.strategy) for path in economics.paths)
    line, last = sentences.economics_sentences(replace(economics, paths=equal), 0.95)
    assert line.startswith("Long/short, long/flat and always long returned")
    assert "one that equals it, as here, shows no skill" in last


def test_a_strategy_that_hardly_trades_is_not_given_a_break_even(inputs):
    economics = inputs.assessment.economics
    path = economics.paths[2]
    still = replace(path, gross=np.full(len(path.gross), 0.001), turnover=np.full(len(path.gross), 1 / 252))
    line, _ = sentences.economics_sentences(replace(economics, paths=(still,)), 0.95)
    assert "it hardly traded: costs of 20 bp would have taken 0.20% a year" in line
    busy = replace(still, turnover=np.full(len(path.gross), 0.2))
    line, _ = sentences.economics_sentences(replace(economics, paths=(busy,)), 0.95)
    assert "costs of 50 bp would have taken all of it" in line


def test_a_test_that_rejects_too_often_without_skill_is_named(inputs):
    honest = replace(inputs.assessment.calibrated[0], size=0.06, size_interval=Interval(0.03, 0.1))
    eager = replace(honest, test="an interval", size=0.09, size_interval=Interval(0.054, 0.139))
    assert sentences.calibration_sentence([honest]).startswith("None is shown")
    assert "an interval (9.0%)" in sentences.calibration_sentence([honest, eager])
    assert honest.test not in sentences.calibration_sentence([honest, eager])


def test_how_the_network_was_trained_is_read_from_what_was_done() -> None:
    history = pl.DataFrame(
        {
            "update": [1, 2, 3],
            "micro_step": [8, 16, 20],
            "samples_seen": [128, 256, 310],
            "loss": [1.0, 0.9, 0.8],
        }
    )
    validation = pl.DataFrame({"update": [2, 3], "samples_seen": [256, 310], "best": [True, False]})
    for micro_batch in (16, "auto"):
        said = sentences.training_sentence(
            history, validation, {"micro_batch": micro_batch}, {"peak_lr": 1e-3}
        )
        assert said == (
            "Trained 16 x 8: 128 windows an update, 3 updates over 310 windows, peak learning rate 0.001. "
            "Judged is the checkpoint of update 2, after 256 windows."
        )
