"""From a name to a run: the way back from what a person remembers."""

from dataclasses import dataclass

from mlflow import MlflowClient
from mlflow.entities import Run

from candlecast.tracking.backend import answering, connect
from candlecast.tracking.names import run_called
from candlecast.tracking.restored import RESTORED, find_experiment
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
    """Return the run that a name stands for, as `names.run_called` says.

    Raises
    ------
    TrackingError
        No run or several have the name, or the store does not answer.
    """
    client, experiment = connect(store)
    with answering(store):
        return Found(store, client, experiment, run_called(store, client, experiment, name))


def run_of_experiment(store: Store, name: str, baseline: str) -> Found | None:
    """Return the newest run of a DVC experiment on one baseline, None where the store has none."""
    client, experiment = connect(store)
    with answering(store):
        run = find_experiment(client, experiment, name, baseline)
    return None if run is None else Found(store, client, experiment, run)
