"""From a name to a run, and from a run to its model: the way back from what a person remembers."""

import re
from dataclasses import dataclass
from pathlib import Path

import mlflow.artifacts
from mlflow import MlflowClient
from mlflow.entities import LoggedModel, Run

from candlecast.errors import TrackingError
from candlecast.tracking.backend import answering, connect
from candlecast.tracking.model_log import models_of
from candlecast.tracking.restored import RESTORED, find, find_experiment
from candlecast.tracking.served_model import ARTIFACT
from candlecast.tracking.store import Store


@dataclass(frozen=True, slots=True)
class Found:
    """A run in an open store."""

    store: Store
    client: MlflowClient
    experiment: str  # MLflow's id
    run: Run

    @property
    def trained_by(self) -> str:
        """The id of the run that trained: its own, or where DVC restored the training, that one's."""
        return str(self.run.data.tags.get(RESTORED, self.run.info.run_id))


def find_run(store: Store, name: str) -> Found:
    """Return the run with this id, or the newest run of the DVC experiment with this name.

    Raises
    ------
    TrackingError
        The store knows neither, or does not answer.
    """
    client, experiment = connect(store)
    with answering(store):
        run = find(client, name) if re.fullmatch(r"[0-9a-f]{32}", name) else None
        if run is None and re.fullmatch(r"[\w./-]+", name):
            run = find_experiment(client, experiment, name, None)
    if run is None:
        raise TrackingError(
            f"{name}: neither a run in {store.name} nor a DVC experiment it knows; "
            f"list them with: dvc exp show"
        )
    return Found(store, client, experiment, run)


def run_of_experiment(store: Store, name: str, baseline: str) -> Found | None:
    """Return the newest run of a DVC experiment on one baseline, None where the store has none."""
    client, experiment = connect(store)
    with answering(store):
        run = find_experiment(client, experiment, name, baseline)
    return None if run is None else Found(store, client, experiment, run)


def model_of(found: Found) -> LoggedModel:
    """Return the model of a run, or of the run that trained where this one stands for it.

    Raises
    ------
    TrackingError
        There is none.
    """
    with answering(found.store):
        for run_id in dict.fromkeys([found.run.info.run_id, found.trained_by]):
            models = models_of(found.client, found.experiment, run_id)
            if models:
                return models[0]
    raise TrackingError(
        f"run {found.run.info.run_id} ({found.run.info.run_name}) holds no model, as none was evaluated "
        f"in it; run: dvc repro evaluate"
    )


def fetch_forecaster(found: Found, folder: Path) -> Path:
    """Copy the forecaster of a run's model below `folder`, and return where it lies."""
    model = model_of(found)
    with answering(found.store):
        return Path(
            mlflow.artifacts.download_artifacts(
                artifact_uri=f"{model.artifact_location}/artifacts/{ARTIFACT}",
                dst_path=str(folder),
                tracking_uri=found.store.uri,
            )
        )
