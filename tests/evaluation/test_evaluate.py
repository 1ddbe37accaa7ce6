import json

import polars as pl
import pytest

from candlecast.errors import EvaluationError
from candlecast.evaluation.evaluate import evaluate, write_metrics
from candlecast.evaluation.metrics import scores


@pytest.fixture
def forecasts(make_forecasts):
    return pl.concat(
        [
            make_forecasts(part="validation", days=20, skill=0.1),
            make_forecasts(skill=0.2, seed=1),
            make_forecasts(model="zero_return", seed=2),
            make_forecasts(model="ridge_logistic", seed=3),
        ]
    )


def test_the_network_has_both_parts_and_baselines_the_test_part(forecasts):
    metrics = evaluate(forecasts, 0.001)
    assert list(metrics) == ["test", "validation", "baselines"]
    assert list(metrics["baselines"]) == ["zero_return", "ridge_logistic"]
    chosen = forecasts.filter(model="candlecast", part="validation")
    assert metrics["validation"] == pytest.approx(scores(chosen, 0.001))


def test_the_file_is_the_same_bytes_for_any_order_of_rows(forecasts, tmp_path):
    paths = [tmp_path / "a.json", tmp_path / "b.json"]
    write_metrics(paths[0], evaluate(forecasts, 0.001))
    write_metrics(paths[1], evaluate(pl.concat(reversed(forecasts.partition_by("part"))), 0.001))
    first, second = (path.read_bytes() for path in paths)
    assert first == second
    assert json.loads(first)["test"]["directional_accuracy"] > 0.5


def test_a_baseline_that_misses_a_window_is_named(forecasts):
    lacking = forecasts.filter((pl.col("model") != "ridge_logistic") | (pl.col("ticker") != "T1"))
    with pytest.raises(EvaluationError, match=r"ridge_logistic \(240 windows\) and candlecast \(300\)"):
        evaluate(lacking, 0.001)


def test_a_missing_part_is_named(forecasts):
    with pytest.raises(EvaluationError, match="candlecast has none of the validation part"):
        evaluate(forecasts.filter(part="test"), 0.001)
