"""Open the store: created once, by one process, with artifacts at an absolute place."""

import logging
import os
import platform
from collections.abc import Iterator
from contextlib import contextmanager

import psutil
from filelock import FileLock
from mlflow import MlflowClient
from mlflow.entities import Run, RunStatus
from mlflow.exceptions import MlflowException
from mlflow.store.tracking.sqlalchemy_store import SqlAlchemyStore

from candlecast.tracking.buffer import AWAY
from candlecast.tracking.refusals import refusal
from candlecast.tracking.search import search
from candlecast.tracking.store import EXPERIMENT, Store

HOST, PROCESS, STARTED = "process.host", "process.id", "process.started"

logger = logging.getLogger(__name__)


@contextmanager
def _first_use(store: Store) -> Iterator[None]:
    # Two processes that migrate one fresh sqlite file crash each other.
    for name in ("mlflow", "alembic"):
        logging.getLogger(name).setLevel(logging.WARNING)
    # It logs a traceback of a page for what is raised too, and is said in a line where it is caught.
    logging.getLogger("mlflow.store.db.utils").setLevel(logging.CRITICAL)
    if store.database is None:
        yield
        return
    store.database.parent.mkdir(parents=True, exist_ok=True)
    # MLflow tries for minutes to open what it may not; sqlite writes its journal beside the file.
    if store.database.exists():
        store.database.open("rb+").close()
    with FileLock(f"{store.database}.lock"):
        # MLflow places the artifacts of an experiment where the process that made it happened to stand,
        # for ever: also of the one named Default, which opening a fresh file makes.
        SqlAlchemyStore(store.uri, store.artifacts)  # type: ignore[no-untyped-call]
        yield


def connect(store: Store) -> tuple[MlflowClient, str]:
    """Return a client and the experiment's id, making the store and the experiment on first use.

    Raises
    ------
    TrackingError
        The database or the server does not answer.
    """
    with answering(store), _first_use(store):
        client = MlflowClient(tracking_uri=store.uri)
        experiment = client.get_experiment_by_name(EXPERIMENT)
        if experiment is not None:
            return client, experiment.experiment_id
        return client, _create(client, store)


@contextmanager
def answering(store: Store) -> Iterator[None]:
    """Turn a store's refusal into a `TrackingError`, for what cannot go on without the store."""
    try:
        yield
    except (*AWAY, ImportError) as error:  # a driver may be missing
        raise refusal(store, error) from None


def _create(client: MlflowClient, store: Store) -> str:
    location = f"{store.artifacts}/{EXPERIMENT}" if store.artifacts else None
    try:
        return client.create_experiment(EXPERIMENT, artifact_location=location)
    except MlflowException:
        # On a server another process may have been first; any other fault shows again here.
        experiment = client.get_experiment_by_name(EXPERIMENT)
        if experiment is None:
            raise
        return experiment.experiment_id


def process_tags() -> dict[str, str]:
    """Return tags by which a later process can tell whether this one still runs."""
    started = psutil.Process().create_time()
    return {HOST: platform.node(), PROCESS: str(os.getpid()), STARTED: f"{started:.2f}"}


def sweep(client: MlflowClient, experiment: str) -> list[str]:
    """Mark as KILLED the runs whose process on this machine is gone, and return their ids.

    A process ended by SIGKILL or by a power cut leaves its run RUNNING for ever.
    """
    running = f"attributes.status = 'RUNNING' and tags.`{HOST}` = '{platform.node()}'"
    stale = [run for run in search(client, experiment, running) if not _alive(run)]
    for run in stale:
        client.set_terminated(run.info.run_id, RunStatus.to_string(RunStatus.KILLED))
        logger.info("run %s was left behind by a process that is gone; marked as killed", run.info.run_name)
    return [run.info.run_id for run in stale]


def _alive(run: Run) -> bool:
    try:
        started: float = psutil.Process(int(run.data.tags[PROCESS])).create_time()
        # A process id is used again; its start is not.
        return abs(started - float(run.data.tags[STARTED])) < 1.0
    except (psutil.NoSuchProcess, KeyError, ValueError):
        return False
