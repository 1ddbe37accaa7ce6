import math

import numpy as np
import polars as pl
import pytest
from oracle.scores import slow_scores

from candlecast.errors import EvaluationError
from candlecast.evaluation.metrics import direction_scores, scores

MEAN = 0.002


@pytest.mark.parametrize("skill", [-1.0, 0.0, 0.3, 1.0])
def test_every_score_equals_its_definition_written_out(make_forecasts, skill):
    frame = make_forecasts(skill=skill)
    result, expected = scores(frame, MEAN), slow_scores(frame, MEAN)
    assert result.keys() == expected.keys()
    for name, value in result.items():
        assert value == pytest.approx(expected[name], abs=1e-12), name


def test_names_say_their_direction(make_forecasts):
    better, worse = (scores(make_forecasts(skill=skill), MEAN) for skill in (0.9, 0.0))
    for name in better:
        if name.endswith("_error"):
            assert better[name] < worse[name], name
        else:
            assert name.endswith(("_score", "_accuracy"))
            assert better[name] > worse[name], name


def test_forecasting_the_training_mean_has_no_r2_and_orders_nothing(make_forecasts):
    frame = make_forecasts().with_columns(forecast_return=pl.lit(MEAN), probability_up=pl.lit(0.7))
    result = scores(frame, MEAN)
    assert result["out_of_sample_r2_score"] == pytest.approx(0, abs=1e-12)
    assert result["directional_accuracy"] == pytest.approx((frame["realised_return"] > 0).mean())
    assert result["balanced_accuracy"] == 0.5
    assert result["matthews_correlation_score"] == 0
    assert result["roc_auc_score"] == 0.5
    for name, value in result.items():
        if "information" in name:
            assert value == 0, name


def test_one_realised_class_has_no_skill_rather_than_nan():
    result = direction_scores(np.array([True, True, True]), np.array([0.9, 0.4, 0.6]))
    assert result["balanced_accuracy"] == 0.5
    assert result["roc_auc_score"] == 0.5
    assert result["matthews_correlation_score"] == 0
    assert result["average_precision_score"] == 1
    assert result["directional_accuracy"] == pytest.approx(2 / 3)
    assert all(math.isfinite(value) for value in result.values())


def test_a_flat_market_and_an_undecided_forecast_count_as_down():
    result = direction_scores(np.array([0.0, 0.01, -0.01]) > 0, np.array([0.5, 0.5, 0.5]))
    assert result["directional_accuracy"] == pytest.approx(2 / 3)


def test_two_tickers_have_no_daily_coefficient(make_forecasts):
    names = scores(make_forecasts(tickers=2), MEAN)
    assert not [name for name in names if name.startswith("daily_information")]
    assert "pooled_information_coefficient_score" in names


@pytest.mark.parametrize("column", ["realised_return", "forecast_return", "probability_up"])
@pytest.mark.parametrize("value", [math.nan, math.inf, None])
def test_a_number_that_is_not_finite_is_named(make_forecasts, column, value):
    frame = make_forecasts()
    row = frame.row(7, named=True)
    broken = frame.with_columns(
        pl.when(pl.int_range(pl.len()) == 7).then(pl.lit(value, pl.Float64)).otherwise(column).alias(column)
    )
    with pytest.raises(
        EvaluationError, match=rf"candlecast, test: {column}.*{row['ticker']} on {row['date']}"
    ):
        scores(broken, MEAN)


def test_a_window_forecast_twice_is_named(make_forecasts):
    frame = make_forecasts()
    with pytest.raises(EvaluationError, match="T2 on 2011-03-01 is forecast twice"):
        scores(pl.concat([frame, frame[2:3]]), MEAN)


def test_no_windows_is_an_error(make_forecasts):
    with pytest.raises(EvaluationError, match="no windows"):
        scores(make_forecasts().clear(), MEAN)


def test_a_probability_beyond_one_is_named(make_forecasts):
    with pytest.raises(EvaluationError, match=r"probability_up is 1\.5"):
        scores(make_forecasts().with_columns(probability_up=pl.lit(1.5)), MEAN)


def test_a_market_that_never_varies_is_an_error(make_forecasts):
    with pytest.raises(EvaluationError, match="no variation"):
        scores(make_forecasts().with_columns(realised_return=pl.lit(MEAN)), MEAN)


def test_the_order_of_rows_does_not_matter(make_forecasts):
    frame = make_forecasts(skill=0.4)
    shuffled = scores(frame.sample(fraction=1, shuffle=True, seed=3), MEAN)
    assert shuffled == pytest.approx(scores(frame, MEAN), rel=1e-12)
