import datetime

import numpy as np
import polars as pl
import pytest

from candlecast.errors import EvaluationError
from candlecast.evaluation.evaluate import select
from candlecast.evaluation.folds import pool_folds
from candlecast.evaluation.metrics import return_scores, scores


@pytest.fixture
def spans(make_forecasts):
    frames = []
    for fold in range(3):
        frame = pl.concat(
            [make_forecasts(days=20, seed=fold), make_forecasts(days=20, model="zero_return", seed=9)]
        )
        frames.append(frame.with_columns(pl.col("date") + datetime.timedelta(days=20 * fold)))
    return frames


def test_every_window_is_there_once_with_its_folds_training_mean(spans):
    pooled, means = pool_folds(list(zip(spans, (0.0, 0.01, 0.02), strict=True)))
    network = select(pooled, "candlecast", "test")
    assert network.height == len(means) == 300
    assert pooled.height == 600
    assert list(dict.fromkeys(means)) == [0.0, 0.01, 0.02]
    assert (np.diff(means) >= 0).all()


def test_scores_of_the_pool_measure_each_fold_against_its_own_mean(spans):
    pooled, means = pool_folds(list(zip(spans, (0.0, 0.01, 0.02), strict=True)))
    network = select(pooled, "candlecast", "test")
    realised, forecast = network["realised_return"].to_numpy(), network["forecast_return"].to_numpy()
    expected = 1 - ((realised - forecast) ** 2).sum() / ((realised - means) ** 2).sum()
    assert scores(network, means)["out_of_sample_r2_score"] == pytest.approx(expected, abs=1e-12)
    assert return_scores(realised, forecast, means)["out_of_sample_r2_score"] == pytest.approx(expected)


def test_a_day_in_two_folds_is_named(spans):
    overlapping = spans[1].with_columns(pl.col("date") - datetime.timedelta(days=1))
    with pytest.raises(EvaluationError, match=r"folds 0 and 1: both forecast T0 on 2011-03-20"):
        pool_folds([(spans[0], 0.0), (overlapping, 0.0)])


def test_validation_windows_are_not_pooled(spans):
    validation = spans[0].with_columns(part=pl.lit("validation"))
    pooled, _ = pool_folds([(pl.concat([spans[0], validation]), 0.0), (spans[1], 0.0)])
    assert set(pooled["part"]) == {"test"}


def test_folds_of_other_models_are_refused(spans):
    with pytest.raises(EvaluationError, match="fold 1: holds the models candlecast, fold 0"):
        pool_folds([(spans[0], 0.0), (spans[1].filter(model="candlecast"), 0.0)])
