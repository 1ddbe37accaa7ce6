import numpy as np
import polars as pl
import pytest

from candlecast.errors import EvaluationError
from candlecast.evaluation.config import EvaluateConfig
from candlecast.evaluation.evidence import gather_evidence
from candlecast.evaluation.metrics import scores
from candlecast.evaluation.significance import direction_dependence, holm, lower_loss

CONFIG = EvaluateConfig(
    batch=8,
    reliability_bins=5,
    bootstrap_replications=400,
    confidence=0.9,
    costs_bp=(0.0,),
    calibration_simulations=0,
)
MEAN = 0.001


def market(make_forecasts, skill: float, **sizes) -> pl.DataFrame:
    shape = {"days": 160, "tickers": 4, **sizes}
    mean = make_forecasts(model="training_mean", seed=2, **shape).with_columns(
        forecast_return=pl.lit(MEAN), probability_up=pl.lit(0.52)
    )
    return pl.concat(
        [
            make_forecasts(skill=skill, seed=1, **shape),
            mean,
            make_forecasts(model="ridge_logistic", seed=3, **shape),
        ]
    )


def gather(frame, trials=1, horizon=2, config=CONFIG):
    return gather_evidence(frame, MEAN, horizon, config, trials, seed=5)


def test_values_are_the_metrics_and_lie_in_their_intervals(make_forecasts):
    frame = market(make_forecasts, 0.3)
    evidence = gather(frame)
    expected = scores(frame.filter(model="candlecast"), MEAN)
    assert [score.name for score in evidence.scores] == list(expected)
    for score in evidence.scores:
        assert score.value == pytest.approx(expected[score.name], abs=1e-12)
        assert score.interval.low <= score.value <= score.interval.high


def test_differences_are_against_the_best_baseline_of_each_score(make_forecasts):
    frame = market(make_forecasts, 0.3)
    evidence = gather(frame)
    all_scores = {
        name: scores(frame.filter(model=name), MEAN) for name in ("training_mean", "ridge_logistic")
    }
    for score in evidence.scores:
        best = (min if score.name.endswith("_error") else max)(
            all_scores.values(), key=lambda each: each[score.name]
        )
        assert score.difference == pytest.approx(score.value - best[score.name], abs=1e-12)


def test_planted_skill_is_found_and_its_absence_is_not(make_forecasts):
    found, none = gather(market(make_forecasts, 0.5)), gather(market(make_forecasts, 0.0))
    assert found.score("directional_accuracy").gain == 1
    assert found.score("brier_error").gain == 1
    assert found.beats_every_baseline("brier") < 0.001
    assert none.score("directional_accuracy").gain == 0
    assert none.beats_every_baseline("squared") > 0.05


def test_a_worse_model_is_called_worse(make_forecasts):
    frame = market(make_forecasts, 0.0).with_columns(
        pl.when(pl.col("model") == "candlecast")
        .then(-5 * pl.col("realised_return"))
        .otherwise("forecast_return")
        .alias("forecast_return")
    )
    assert gather(frame).score("root_mean_squared_error").gain == -1


def test_more_trials_need_stronger_evidence(make_forecasts):
    frame = market(make_forecasts, 0.15)
    once, often = gather(frame, trials=1), gather(frame, trials=40)
    assert often.beats_every_baseline("brier") == pytest.approx(
        min(1, 40 * once.beats_every_baseline("brier"))
    )
    first, second = (next(c for c in each.claims if c.family == "direction") for each in (once, often))
    assert second.adjusted == pytest.approx(min(1, 40 * first.p_value))


def test_claims_are_the_tests_themselves(make_forecasts):
    frame = market(make_forecasts, 0.2)
    evidence = gather(frame)
    direction = next(claim for claim in evidence.claims if claim.family == "direction")
    tested = direction_dependence(frame.filter(model="candlecast"), 2)
    assert (direction.statistic, direction.p_value) == (tested.statistic, tested.p_value)
    daily = {
        name: frame.filter(model=name)
        .group_by("date", maintain_order=True)
        .agg(((pl.col("realised_return") - pl.col("forecast_return")) ** 2).mean())["realised_return"]
        .to_numpy()
        for name in frame["model"].unique()
    }
    p_values = {
        name: lower_loss(daily["candlecast"], loss, 2).p_value
        for name, loss in daily.items()
        if name != "candlecast"
    }
    claims = {claim.question: claim for claim in evidence.claims if claim.family == "squared"}
    assert {name: claim.p_value for name, claim in claims.items()} == pytest.approx(p_values)
    assert {name: claim.adjusted for name, claim in claims.items()} == pytest.approx(holm(p_values))


def test_the_same_seed_gives_the_same_evidence(make_forecasts):
    frame = market(make_forecasts, 0.1)
    assert gather(frame) == gather(frame)


def test_a_span_too_short_is_said_so(make_forecasts):
    with pytest.raises(EvaluationError, match="test days hold fewer than 8"):
        gather(market(make_forecasts, 0.0, days=30), horizon=5)


def test_two_tickers_have_no_claim_on_the_order_of_tickers(make_forecasts):
    evidence = gather(market(make_forecasts, 0.0, tickers=2))
    assert not [claim for claim in evidence.claims if claim.family == "order"]
    assert np.isfinite([score.value for score in evidence.scores]).all()
