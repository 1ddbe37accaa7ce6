import json
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from candlecast.evaluation.assess import assess, write_assessment
from candlecast.evaluation.config import EvaluateConfig

CONFIG = EvaluateConfig(
    batch=8,
    reliability_bins=5,
    bootstrap_replications=200,
    confidence=0.9,
    costs_bp=(0.0, 10.0),
    calibration_simulations=2,
)


@pytest.fixture
def forecasts(make_forecasts) -> pl.DataFrame:
    return pl.concat([make_forecasts(days=90), make_forecasts(days=90, model="training_mean", seed=4)])


def test_the_file_is_json_and_the_same_bytes_for_the_same_forecasts(forecasts, make_closes, tmp_path):
    closes = make_closes(forecasts, 6)
    for name in ("a.json", "b.json"):
        write_assessment(tmp_path / name, assess(forecasts, 0.001, closes, 3, CONFIG, trials=2, seed=1))
    assert (tmp_path / "a.json").read_bytes() == (tmp_path / "b.json").read_bytes()
    record = json.loads((tmp_path / "a.json").read_text())
    assert record["evidence"]["trials"] == 2
    assert len(record["economics"]["outcomes"]) == 6
    assert record["shape"]["tickers"] == 5
    assert {each["test"] for each in record["calibrated"]}


def test_the_yearly_return_lies_in_its_interval(forecasts, make_closes):
    economics = assess(forecasts, 0.001, make_closes(forecasts, 6), 3, CONFIG, trials=1, seed=1).economics
    for path in economics.paths:
        interval = economics.annual_return[path.strategy]
        assert interval.low < 252 * path.gross.mean() < interval.high
        # About 1.645 standard errors to either side, were days independent.
        width = (interval.high - interval.low) / 2 / 252
        assert 0.4 < width / (1.645 * path.gross.std() / np.sqrt(len(path.gross))) < 2.5


def test_no_simulations_leave_the_tests_untried(forecasts, make_closes):
    config = replace(CONFIG, calibration_simulations=0)
    assert assess(forecasts, 0.001, make_closes(forecasts, 6), 3, config, trials=1, seed=1).calibrated == ()


@pytest.mark.parametrize(("horizon", "enough"), [(11, True), (12, False)])
def test_a_span_needs_eight_outcomes_that_do_not_overlap(forecasts, make_closes, tmp_path, horizon, enough):
    assessment = assess(forecasts, 0.001, make_closes(forecasts, 13), horizon, CONFIG, trials=1, seed=1)
    assert (assessment is not None) == enough
    write_assessment(tmp_path / "evidence.json", assessment)
    assert (json.loads((tmp_path / "evidence.json").read_text()) is not None) == enough
