"""A study in the tracking store: a parent run that says what is asked, and its cells below it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from mlflow.entities import Run, RunTag

from candlecast.tracking.backend import answering, connect
from candlecast.tracking.pending import deliver
from candlecast.tracking.restored import complete_stand_in
from candlecast.tracking.search import search
from candlecast.tracking.store import ROLE, Store

STUDY: Final = "candlecast.study"
ARM: Final = "candlecast.arm"
PHASE: Final = "candlecast.phase"
FINGERPRINT: Final = "candlecast.fingerprint"
SECONDS: Final = "candlecast.seconds"  # of wall clock, DVC's own included
DIVERGED: Final = "candlecast.diverged"  # what was not finite, on a tuning run that it stopped
SUPERSEDED: Final = "candlecast.superseded"  # the study that a run belonged to until its cell changed
PARENT: Final = "mlflow.parentRunId"


@dataclass(frozen=True, slots=True)
class CellRun:
    """The newest run of a cell."""

    run_id: str
    finished: bool
    tags: Mapping[str, str]
    metrics: Mapping[str, float]  # the last point of each

    @property
    def divergence(self) -> str | None:
        """Return why the training stopped, where its loss or gradient was no longer finite."""
        failure = self.tags.get("failure", "")
        return None if self.finished or "is not finite" not in failure else failure


class StudyLog:
    """The runs of one study. Opening it makes the store ready for several processes at once.

    The parent run is made by the first that is written, so that asking leaves nothing behind.
    """

    def __init__(self, store: Store, study: str, description: str) -> None:
        self._store, self._study, self._description = store, study, description
        self._client, self._experiment = connect(store)
        self._parent: str | None = None

    def runs(self, names: Iterable[str]) -> dict[str, CellRun]:
        """Return the newest run of each cell that has one; what a changed cell left behind counts no more."""
        wanted, found = set(names), dict[str, CellRun]()
        with answering(self._store):
            deliver(self._client, self._store.root)
            for run in self._search(f"tags.`dvc.experiment` LIKE '{self._study}-%'"):
                name = run.data.tags["dvc.experiment"]
                if name in wanted and name not in found and SUPERSEDED not in run.data.tags:
                    finished = run.info.status == "FINISHED"
                    found[name] = CellRun(run.info.run_id, finished, run.data.tags, run.data.metrics)
        return found

    def enter(self, run_id: str, tags: Mapping[str, str]) -> None:
        """Put a cell's run below the study."""
        self._tag(run_id, {STUDY: self._study, PARENT: self.parent(), **tags})

    def describe(self, tags: Mapping[str, str]) -> None:
        """Say something of the whole study on its parent run."""
        self._tag(self.parent(), tags)

    def supersede(self, run_id: str) -> None:
        """Take a run out of the study, since its cell has changed; the run itself stays."""
        with answering(self._store):
            tags = self._client.get_run(run_id).data.tags
            self._tag(run_id, {SUPERSEDED: self._study})
            for tag in (STUDY, PARENT):
                if tag in tags:
                    self._client.delete_tag(run_id, tag)

    def supersede_others(self, name: str, run_id: str) -> None:
        """Leave one run to a cell: a worker that was lost may have left one that even ended well."""
        with answering(self._store):
            for run in self._search(f"tags.`dvc.experiment` = '{name}'"):
                if run.info.run_id != run_id and SUPERSEDED not in run.data.tags:
                    self._tag(run.info.run_id, {SUPERSEDED: self._study})

    def confirmed(self) -> dict[str, CellRun]:
        """Return the runs, by cell, that have seen the test span for this study."""
        query = f"tags.`{STUDY}` = '{self._study}' and tags.`{PHASE}` = 'confirmation'"
        with answering(self._store):
            return {
                run.data.tags["dvc.experiment"]: CellRun(
                    run.info.run_id, True, run.data.tags, run.data.metrics
                )
                for run in self._search(query)
            }

    def stand_in(
        self, tags: Mapping[str, str], source: str, params: Mapping[str, Any], scores: Mapping[str, Any]
    ) -> None:
        """Make a light run for a cell that DVC restored from its cache, where nothing was logged."""
        with answering(self._store):
            complete_stand_in(self._client, self._experiment, source, params, tags, scores)

    def close(self, *, complete: bool) -> None:
        """End the parent run; one of an incomplete study stays open."""
        with answering(self._store):
            self._client.update_run(self.parent(), status="FINISHED" if complete else "RUNNING")

    def _tag(self, run_id: str, tags: Mapping[str, str]) -> None:
        with answering(self._store):
            self._client.log_batch(run_id, tags=[RunTag(key, str(value)) for key, value in tags.items()])

    def parent(self) -> str:
        """Return the id of the run that stands for the study, with what it asks as its description."""
        if self._parent is None:
            tags = {ROLE: "study", STUDY: self._study, "mlflow.note.content": self._description}
            with answering(self._store):
                found = self._search(f"tags.`{ROLE}` = 'study' and tags.`{STUDY}` = '{self._study}'")
                run = (
                    found[0]
                    if found
                    else self._client.create_run(self._experiment, tags=tags, run_name=self._study)
                )
            self._parent = str(run.info.run_id)
            self._tag(self._parent, tags)
        return self._parent

    def _search(self, query: str) -> list[Run]:
        return [*search(self._client, self._experiment, query)]


def open_study(store: Store, study: str, question: str, prediction: str) -> StudyLog:
    """Open a study with its question and prediction as the description that MLflow shows."""
    return StudyLog(store, study, f"**Question.** {question}\n\n**Prediction.** {prediction}")
