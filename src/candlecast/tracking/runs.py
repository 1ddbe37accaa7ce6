"""Runs read back from the store, as plain records: whatever machine they were made on."""

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from mlflow.entities import Run
from mlflow.exceptions import MlflowException

from candlecast.errors import TrackingError
from candlecast.tracking.backend import answering, connect
from candlecast.tracking.identity import first_line
from candlecast.tracking.names import run_called
from candlecast.tracking.restored import RESTORED, find
from candlecast.tracking.search import search
from candlecast.tracking.store import ROLE, Store
from candlecast.tracking.studies import ARM, STUDY

HISTORY: Final = "training/history.csv"  # artifact: every update, where metrics hold some
SCORES: Final = "metrics.json"  # artifact: the baselines' scores beside the network's

# The metrics that have a course; a call fetches one of them.
COURSES: Final = (
    "train/loss",
    "train/grad_norm",
    "train/noise_scale",
    "train/windows_per_second",
    "samples_seen",
    "seconds",
    "val/loss",
    "val/return_rmse_error",
    "val/directional_accuracy",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class TrackedRun:
    """A run's last values; params are text, as MLflow has them."""

    run_id: str
    name: str
    status: str
    started: int  # milliseconds since 1970
    params: Mapping[str, str]
    metrics: Mapping[str, float]
    tags: Mapping[str, str]

    @property
    def experiment(self) -> str:
        """Return the name of the DVC experiment, or of the run outside one."""
        return self.tags.get("dvc.experiment", self.name)


@dataclass(frozen=True, slots=True, kw_only=True)
class Course:
    """What a run went through: (update, value) of each metric in order, and every update as text."""

    points: Mapping[str, tuple[tuple[int, float], ...]]
    history: str | None  # history.csv; None where the run has no such artifact
    scores: str | None  # metrics.json; the same


class RunReader:
    """Reads the runs of one store."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._client, self._experiment = connect(store)

    def of_study(self, study: str) -> list[TrackedRun]:
        """Return the runs that are cells of a study, newest first; its parent run is none of them."""
        runs = self.matching(f"tags.`{STUDY}` = '{study}'")
        return [run for run in runs if ARM in run.tags]

    def matching(self, query: str) -> list[TrackedRun]:
        """Return the trainings that MLflow's filter `query` lets through, newest first.

        Raises
        ------
        TrackingError
            MLflow does not understand the filter, or does not answer.
        """
        with answering(self._store):
            try:
                found = search(self._client, self._experiment, query)
                return [_record(run) for run in found if ROLE not in run.data.tags]
            except MlflowException as error:
                if error.error_code != "INVALID_PARAMETER_VALUE":
                    raise
                raise TrackingError(
                    f"--filter: MLflow does not understand {query!r} ({first_line(error)}); "
                    "write for example: params.`accum.steps` = '8' and tags.`dvc.batch` = 'grid'"
                ) from None

    def named(self, names: Sequence[str]) -> list[TrackedRun]:
        """Return the run that each name stands for, as `names.run_called` says.

        Raises
        ------
        TrackingError
            No run or several have the name, or the store does not answer.
        """
        with answering(self._store):
            return [_record(run_called(self._store, self._client, self._experiment, name)) for name in names]

    def course(self, run: TrackedRun) -> Course:
        """Return what a run went through; of a run that stands for a restored training, the training's."""
        with answering(self._store):
            run_id = run.tags.get(RESTORED, run.run_id)
            if find(self._client, run_id) is None:
                run_id = run.run_id
            points = {name: self._points(run_id, name) for name in COURSES}
            return Course(
                points=points,
                history=self._text(run_id, HISTORY),
                scores=self._text(run.run_id, SCORES),
            )

    def _points(self, run_id: str, name: str) -> tuple[tuple[int, float], ...]:
        history = self._client.get_metric_history(run_id, name)
        # A training that was resumed may have logged an update again; what it said last is what happened.
        last = {point.step: point.value for point in sorted(history, key=lambda point: point.timestamp)}
        return tuple(sorted(last.items()))

    def _text(self, run_id: str, artifact: str) -> str | None:
        folder = artifact.rpartition("/")[0]
        try:
            if artifact not in (item.path for item in self._client.list_artifacts(run_id, folder or None)):
                return None
            with tempfile.TemporaryDirectory() as target:
                path = self._client.download_artifacts(run_id, artifact, target)
                return Path(path).read_text(encoding="utf-8")
        except (MlflowException, OSError):
            return None  # artifacts of another machine's local store are not here; the metrics are


def _record(run: Run) -> TrackedRun:
    return TrackedRun(
        run_id=run.info.run_id,
        name=run.info.run_name,
        status=run.info.status,
        started=run.info.start_time,
        params=dict(run.data.params),
        metrics=dict(run.data.metrics),
        tags=dict(run.data.tags),
    )
