"""What the numbers allow one to say, in words."""

import math
from typing import Any

import polars as pl

from candlecast.evaluation.evaluate import Metrics
from candlecast.report.tables import best_baseline, label, percent


def verdict(metrics: Metrics, frame: pl.DataFrame, horizon: int) -> list[str]:
    """Return sentences on the network's test forecasts `frame`, the first the answer."""
    days = frame["date"].n_unique()
    independent = max(days // horizon, 1)
    error = 0.5 / math.sqrt(independent)
    test: Any = metrics["test"]
    baselines: Any = metrics["baselines"]
    accuracy, r2 = test["directional_accuracy"], test["out_of_sample_r2_score"]
    name = best_baseline(metrics, "directional_accuracy")
    gain = accuracy - baselines[name]["directional_accuracy"]
    r2_name = best_baseline(metrics, "out_of_sample_r2_score")
    r2_gain = r2 - baselines[r2_name]["out_of_sample_r2_score"]
    if gain <= 0 and r2_gain <= 0:
        answer = "No skill beyond the baselines, neither in the direction nor in the size of the return."
    elif gain > 2 * error and r2_gain > 0:
        answer = (
            "Ahead of every baseline here, by more than chance alone would usually give. "
            "One test span is one sample."
        )
    else:
        answer = "No skill beyond the baselines that this test span could tell from luck."
    return [
        answer,
        f"The direction was called right in {accuracy:.1%} of windows; the best baseline "
        f"({label(name)}) reached {baselines[name]['directional_accuracy']:.1%}. The return forecast removed "
        f"{percent(r2)} of the training mean's squared error; the best baseline ({label(r2_name)}) "
        f"{percent(baselines[r2_name]['out_of_sample_r2_score'])}.",
        f"{frame.height:,} windows sound like many, but outcomes {horizon} bars long overlap and tickers "
        f"move together: {days} days hold about {independent} independent outcomes of the market, so an "
        f"accuracy is uncertain by roughly \u00b1{200 * error:.0f} points (two standard errors).",
    ]
