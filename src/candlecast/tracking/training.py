"""The run of one training, from its first tag to its last status."""

import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from mlflow import MlflowClient
from mlflow.entities import Dataset, DatasetInput

from candlecast.seeding import environment
from candlecast.tracking.artifacts import log_files
from candlecast.tracking.backend import answering, connect, process_tags, sweep
from candlecast.tracking.buffer import AWAY, MetricBuffer
from candlecast.tracking.entries import log_params
from candlecast.tracking.identity import code_state, dvc_tags, first_line, run_name
from candlecast.tracking.observer import MLflowObserver
from candlecast.tracking.pending import deliver, keep_for_later
from candlecast.tracking.restored import find
from candlecast.tracking.run_file import read_run, write_run
from candlecast.tracking.store import Store

FAILURE = "failure"  # the tag with what an error said

logger = logging.getLogger(__name__)


class TrainingLog:
    """A run that is open: its id, the observer that fills it, and its files."""

    def __init__(self, store: Store, client: MlflowClient, run_id: str, params: Mapping[str, Any]) -> None:
        self.run_id = run_id
        self.observer = MLflowObserver(
            client,
            run_id,
            name_of=partial(run_name, params),
            announce=lambda name: logger.info("MLflow run %s (%s) in %s", name, run_id, store.name),
        )
        self._client = client

    def files(self, *paths: Path) -> None:
        """Store files and folders as the run's artifacts, each under its own name."""
        log_files(self._client, self.run_id, paths)


@contextmanager
def open_training(
    store: Store,
    environ: Mapping[str, str],
    here: Path,
    params: Mapping[str, Any],
    data_hash: str,
    resume_file: Path | None,
) -> Iterator[TrainingLog]:
    """Do what `session.training_run` describes, in `store`."""
    client, experiment = connect(store)
    with answering(store):
        deliver(client, store.root)
        sweep(client, experiment)
        run_id = _continued(client, resume_file)
        if run_id is None:
            tags = _tags(environ, here, data_hash)
            run_id = client.create_run(experiment, tags=tags, run_name=run_name(params)).info.run_id
            _describe(client, run_id, here, params, data_hash)
            if resume_file is not None:
                _remember(resume_file, run_id)
        log = TrainingLog(store, client, run_id, params)
    status = "KILLED"
    try:
        yield log
        status = "FINISHED"
    except Exception as error:
        status = "FAILED"
        _try_tag(client, run_id, FAILURE, first_line(error))
        raise
    finally:
        _close(store, client, log, status)


def _remember(resume_file: Path, run_id: str) -> None:
    try:
        write_run(resume_file, run_id)
    except OSError as error:
        logger.warning(
            "%s: %s; a training that is interrupted would go on in another run", resume_file, error.strerror
        )


def _close(store: Store, client: MlflowClient, log: TrainingLog, status: str) -> None:
    buffer = log.observer.buffer
    try:
        sent = buffer.send()
        if sent:
            client.set_terminated(log.run_id, status)
    except AWAY as error:
        logger.warning("the tracking store does not answer (%s)", first_line(error))
        sent = False
    if not sent:
        _keep(store, log.run_id, status, buffer)


def _keep(store: Store, run_id: str, status: str, buffer: MetricBuffer) -> None:
    try:
        kept = keep_for_later(store.root, run_id, status, buffer.points)
    except OSError as error:
        logger.warning(
            "run %s lacks its last %d points: the tracking store did not take them, and %s: %s",
            run_id,
            len(buffer.points),
            error.filename,
            error.strerror,
        )
        return
    logger.warning(
        "%s keeps what the tracking store did not take; once it answers, the next training or evaluation or "
        "candlecast ui sends it",
        kept,
    )


def _tags(environ: Mapping[str, str], here: Path, data_hash: str) -> dict[str, str]:
    facts = environment()
    return {
        **dvc_tags(environ),
        **code_state(here).tags(),
        **process_tags(),
        "data.sha256": data_hash,
        "hardware": facts["hardware"],
        "mlflow.source.name": "pipeline/train.py",
        "mlflow.source.type": "LOCAL",
    }


def _describe(
    client: MlflowClient, run_id: str, here: Path, params: Mapping[str, Any], data_hash: str
) -> None:
    log_params(client, run_id, params)
    source = params.get("data", {}).get("source", "windows")
    # A digest is at most 36 characters; the tag data.sha256 holds all of it.
    dataset = Dataset(name=source, digest=data_hash[:32], source_type="dvc", source="data/windows")
    client.log_inputs(run_id, [DatasetInput(dataset)])
    client.log_dict(run_id, environment(), "environment.json")
    if diff := code_state(here).diff:
        client.log_text(run_id, diff, "code.diff")


def _continued(client: MlflowClient, resume_file: Path | None) -> str | None:
    # The id of the run that a checkpoint belongs to, opened again; None where there is none to continue.
    if resume_file is None or not resume_file.exists():
        return None
    run = find(client, read_run(resume_file))
    if run is None:
        return None
    client.update_run(run.info.run_id, status="RUNNING")
    for tag, value in process_tags().items():
        client.set_tag(run.info.run_id, tag, value)
    if FAILURE in run.data.tags:  # it was of the attempt before
        client.delete_tag(run.info.run_id, FAILURE)
    return str(run.info.run_id)


def _try_tag(client: MlflowClient, run_id: str, tag: str, value: str) -> None:
    try:
        client.set_tag(run_id, tag, value)
    except AWAY as error:
        logger.warning("the tracking store does not answer (%s)", first_line(error))
