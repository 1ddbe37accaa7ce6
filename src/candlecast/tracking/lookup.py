"""From a name to a run: the way back from what a person remembers."""

import re
from dataclasses import dataclass

from mlflow import MlflowClient
from mlflow.entities import Run

from candlecast.errors import TrackingError
from candlecast.tracking.backend import answering, connect
from candlecast.tracking.restored import RESTORED, find, find_experiment
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
