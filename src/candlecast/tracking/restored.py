"""An entry for an experiment whose training DVC took from its cache.

When an experiment has the parameters of an earlier one, DVC restores the outputs and runs no command, so
nothing is logged. The experiment would be missing from MLflow although `dvc exp show` lists it. A light run
under its name stands for it: parameters, scores, and the way to the run that was really trained.
"""

from collections.abc import Mapping
from typing import Any

from mlflow import MlflowClient
from mlflow.entities import Metric, Run
from mlflow.exceptions import MlflowException

from candlecast.tracking.entries import log_params, log_scores
from candlecast.tracking.identity import run_name

RESTORED = "restored.from"
TRAINING_METRICS = ("train/", "val/", "total/")


def find(client: MlflowClient, run_id: str) -> Run | None:
    """Return the run, or None when this store does not have it, as after a pull from elsewhere."""
    try:
        run = client.get_run(run_id)
    except MlflowException as error:
        if error.error_code != "RESOURCE_DOES_NOT_EXIST":
            raise
        return None
    return run if run.info.lifecycle_stage == "active" else None


def find_experiment(client: MlflowClient, experiment: str, name: str, baseline: str | None) -> Run | None:
    """Return the newest run of a DVC experiment; a name may be used again on another baseline."""
    query = f"tags.`dvc.experiment` = '{name}'"
    if baseline is not None:
        query += f" and tags.`dvc.baseline` = '{baseline}'"
    runs = client.search_runs([experiment], query, max_results=1)
    return runs[0] if runs else None


def is_of_experiment(run: Run, tags: Mapping[str, str]) -> bool:
    """Return whether the run carries the DVC experiment named by `tags`; outside an experiment, any does."""
    return all(
        run.data.tags.get(tag) == tags[tag] for tag in ("dvc.experiment", "dvc.baseline") if tag in tags
    )


def stand_in(
    client: MlflowClient,
    experiment: str,
    source_id: str,
    params: Mapping[str, Any],
    tags: Mapping[str, str],
) -> str:
    """Start a light run that stands for a restored training, and return its id.

    The training's last scores are copied when this store holds its run; its curves stay there. An
    experiment that has such a run already keeps it.
    """
    if "dvc.experiment" in tags:
        known = find_experiment(client, experiment, tags["dvc.experiment"], tags.get("dvc.baseline"))
        if known is not None and known.data.tags.get(RESTORED) == source_id:
            return str(known.info.run_id)
    source = find(client, source_id)
    origin = f"run `{source_id}`" if source else f"run `{source_id}`, which is not in this store"
    note = (
        f"DVC restored this training from its cache: nothing was trained again. The curves are in {origin}."
    )
    name = tags.get("dvc.experiment") or run_name(params)
    run = client.create_run(
        experiment, tags={**tags, RESTORED: source_id, "mlflow.note.content": note}, run_name=name
    )
    run_id: str = run.info.run_id
    log_params(client, run_id, params)
    if source is not None:
        now = run.info.start_time
        copied = [
            Metric(key, value, now, 0)
            for key, value in source.data.metrics.items()
            if key.startswith(TRAINING_METRICS)
        ]
        client.log_batch(run_id, metrics=copied)
    return run_id


def complete_stand_in(
    client: MlflowClient,
    experiment: str,
    source_id: str,
    params: Mapping[str, Any],
    tags: Mapping[str, str],
    scores: Mapping[str, Mapping[str, float]],
) -> str:
    """Make a whole light run, scores of the evaluation included, and return its id."""
    run_id = stand_in(client, experiment, source_id, params, tags)
    log_scores(client, run_id, scores)
    client.set_terminated(run_id)
    return run_id
