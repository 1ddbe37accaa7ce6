"""Parameters and scores of a run, written the same way for a training, an evaluation and a stand-in."""

import time
from collections.abc import Mapping
from typing import Any, Final

from mlflow import MlflowClient
from mlflow.entities import Metric, Param

from candlecast.tracking.identity import flatten

MAX_PARAMS: Final = 100  # what MLflow takes in one call


def log_params(client: MlflowClient, run_id: str, params: Mapping[str, Any]) -> None:
    """Store nested parameters under dotted names."""
    values = [Param(key, value) for key, value in flatten(params).items()]
    for start in range(0, len(values), MAX_PARAMS):
        client.log_batch(run_id, params=values[start : start + MAX_PARAMS])


def log_scores(client: MlflowClient, run_id: str, parts: Mapping[str, Mapping[str, float]]) -> None:
    """Store scores as `part/name` at step 0; what the run holds already gets no second point."""
    now = int(time.time() * 1000)
    known = client.get_run(run_id).data.metrics
    metrics = [
        Metric(f"{part}/{name}", value, now, 0)
        for part, scores in parts.items()
        for name, value in scores.items()
        if known.get(f"{part}/{name}") != value
    ]
    client.log_batch(run_id, metrics=metrics)
