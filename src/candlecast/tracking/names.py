"""The run that a name stands for: one rule for every command."""

import re

from mlflow import MlflowClient
from mlflow.entities import Run

from candlecast.errors import TrackingError
from candlecast.tracking.restored import find
from candlecast.tracking.search import search
from candlecast.tracking.store import Store


def run_called(store: Store, client: MlflowClient, experiment: str, name: str) -> Run:
    """Return the run with this id, of this DVC experiment, or with this name, whichever is there first.

    Finished runs come before others. DVC lets an experiment of a name take the place of an earlier one, so of
    several runs of an experiment the newest is meant; runs that only look alike by name are not told apart.

    Raises
    ------
    TrackingError
        No run has the name, or several have it as their own.
    """
    if re.fullmatch(r"[0-9a-f]{32}", name) and (run := find(client, name)) is not None:
        return run
    quoted = name.replace("'", "")
    if of_experiment := _finished(client, experiment, f"tags.`dvc.experiment` = '{quoted}'"):
        return of_experiment[0]
    named = _finished(client, experiment, f"attributes.run_name = '{quoted}'")
    if len(named) == 1:
        return named[0]
    if named:
        ids = ", ".join(run.info.run_id for run in named[:3])
        raise TrackingError(
            f"{name}: {len(named)} runs in the tracking store have this name; name one by its id: "
            f"{ids}{' ...' if len(named) > 3 else ''}"
        )
    raise TrackingError(
        f"{name}: neither a run's id, a DVC experiment nor a run's name in {store.name}; list them with: "
        "candlecast ui, or dvc exp show"
    )


def _finished(client: MlflowClient, experiment: str, query: str) -> list[Run]:
    # The newest first; where none is finished, all there are.
    runs = [*search(client, experiment, query)]
    return [run for run in runs if run.info.status == "FINISHED"] or runs
