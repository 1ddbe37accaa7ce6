"""From a DVC experiment to its MLflow run, and from a run to its experiment and commit."""

import datetime
from dataclasses import dataclass
from pathlib import Path

from candlecast.errors import TrackingError
from candlecast.studies.experiments import Experiment, add_missing_runs, experiments
from candlecast.tracking.lookup import Found, find_run, run_of_experiment
from candlecast.tracking.server import run_page
from candlecast.tracking.store import Store


@dataclass(frozen=True, slots=True)
class Trace:
    """A run and the experiment it is of, where the repository still has it."""

    found: Found
    experiment: Experiment | None

    @property
    def page(self) -> str:
        """The path of the run's page in MLflow."""
        return run_page(self.found.experiment, self.found.run.info.run_id)

    def lines(self) -> list[str]:
        """Return what a person wants to know, a line each."""
        run = self.found.run
        started = datetime.datetime.fromtimestamp(run.info.start_time / 1000, datetime.UTC)
        trained = self.found.trained_by
        own = trained == run.info.run_id
        return [
            f"MLflow run      {run.info.run_id}  {run.info.run_name}",
            f"status          {run.info.status}, started {started:%Y-%m-%d %H:%M} UTC",
            f"DVC experiment  {self._experiment()}",
            f"trained by      {'this run' if own else f'run {trained}, from which DVC restored it'}",
        ]

    def _experiment(self) -> str:
        tags = self.found.run.data.tags
        name, commit = tags.get("dvc.experiment"), tags.get("mlflow.source.git.commit", "not known")
        if self.experiment is not None:
            return (
                f"{self.experiment.name}, results in commit {self.experiment.commit[:10]} on "
                f"{self.experiment.baseline[:10]}; take them with: dvc exp apply {self.experiment.name}"
            )
        if name is None:
            return f"none: a run of dvc repro, on commit {commit[:10]}"
        return (
            f"{name}, not in this repository; where it was run: dvc exp push origin {name}, then here: "
            f"dvc exp pull origin {name}"
        )


def trace(root: Path, store: Store, name: str) -> Trace:
    """Return the run and the experiment that `name` stands for.

    Parameters
    ----------
    name
        A DVC experiment, the first 7 or more characters of its commit, or the id of an MLflow run. An
        experiment that DVC restored without training gets its light run first.

    Raises
    ------
    TrackingError
        It is neither, or the store knows no run of the experiment.
    """
    known = experiments(root)
    named = [each for each in known if name == each.name or (len(name) > 6 and each.commit.startswith(name))]
    if not named:
        found = find_run(store, name)
        return Trace(found, _of(known, found))
    experiment = named[-1]
    run = run_of_experiment(store, experiment.name, experiment.baseline)
    if run is None:
        add_missing_runs(root, store)
        run = run_of_experiment(store, experiment.name, experiment.baseline)
    if run is None:
        raise TrackingError(
            f"{name}: a DVC experiment without a run in {store.name}; it logged to another store, which "
            f"MLFLOW_TRACKING_URI would name"
        )
    return Trace(run, experiment)


def _of(known: list[Experiment], found: Found) -> Experiment | None:
    tags = found.run.data.tags
    wanted = tags.get("dvc.experiment"), tags.get("dvc.baseline")
    return next((each for each in known if (each.name, each.baseline) == wanted), None)
