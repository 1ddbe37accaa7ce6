"""Where a study stands: which cells are done, which wait or run, which are to be run."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from candlecast.studies.cells import Cell, apply
from candlecast.studies.dvc_queue import Task
from candlecast.studies.experiments import Experiment, experiments, read_at, remove_experiments
from candlecast.studies.fingerprint import Fingerprints
from candlecast.studies.ledger import Ledger
from candlecast.tracking.studies import ARM, DIVERGED, FINGERPRINT, PHASE, SECONDS, CellRun, StudyLog


@dataclass(frozen=True, slots=True)
class Place:
    """The repository and all that is known of a study's cells in it."""

    root: Path
    threads: int  # that a cell computes with
    params: Mapping[str, Any]
    log: StudyLog
    ledger: Ledger
    fingerprints: Fingerprints


@dataclass(frozen=True, slots=True)
class Survey:
    """The cells of a phase by where they stand."""

    done: dict[str, CellRun]
    waiting: list[Cell]  # in DVC's queue, as they would be queued now
    to_run: list[Cell]  # new, failed, lost or changed
    stale: list[Task]  # entries of the queue that stand for nothing any more


def survey(place: Place, cells: Iterable[Cell], tasks: Iterable[Task]) -> Survey:
    """Compare the cells with DVC's experiments, DVC's queue and MLflow's runs."""
    by_name = {cell.name: cell for cell in cells}
    results = {found.name: found for found in experiments(place.root) if found.name in by_name}
    runs = place.log.runs(by_name)
    result = Survey({}, [], [], [])
    current: dict[str, Task] = {}
    for task in tasks:
        if task.name in by_name:
            fresh = place.ledger.get(task.name) == place.fingerprints.of(by_name[task.name])
            if fresh and task.state != "ended" and task.name not in current:
                current[task.name] = task
            else:
                result.stale.append(task)
    for name, cell in by_name.items():
        run = done_run(place, cell, results.get(name), runs.get(name))
        if run is not None:
            result.done[name] = run
        elif name in current:
            result.waiting.append(cell)
        else:
            result.to_run.append(cell)
    return result


def done_run(place: Place, cell: Cell, experiment: Experiment | None, run: CellRun | None) -> CellRun | None:
    """Return the run of a cell that is done as it would be run now, None where it is to be run.

    It is done when DVC has its experiment, MLflow its finished run, and both were made from the same code,
    parameters and data. A training that DVC restored from its cache is given the run it lacks. One that
    diverged while it was tuned is done too: that is what its value leads to, however often it is run.
    """
    known = (run.tags.get(FINGERPRINT) if run else None) or place.ledger.get(cell.name)
    if known != place.fingerprints.of(cell):
        return None
    if run is not None and run.divergence and cell.phase == "tuning":
        return run
    if experiment is None:
        return None
    if run is None:
        _stand_in(place, cell, experiment)
        run = place.log.runs([cell.name]).get(cell.name)
    return run if run is not None and run.finished else None


def run_of(place: Place, cell: Cell) -> CellRun | None:
    """Return what `done_run` says of a cell that has just ended."""
    found = {found.name: found for found in experiments(place.root)}
    return done_run(place, cell, found.get(cell.name), place.log.runs([cell.name]).get(cell.name))


def enter(place: Place, cell: Cell, run: CellRun, seconds: float | None) -> None:
    """Put the run of a cell that is done below its study; `seconds` is how long the cell took, if known."""
    tags = {
        ARM: cell.arm,
        PHASE: cell.phase,
        FINGERPRINT: place.fingerprints.of(cell),
        "candlecast.threads": str(place.threads),
    }
    if seconds is not None:
        tags[SECONDS] = f"{seconds:.1f}"
    if run.divergence:
        tags[DIVERGED] = run.divergence
    if any(run.tags.get(key) != value for key, value in tags.items()):
        place.log.supersede_others(cell.name, run.run_id)
        place.log.enter(run.run_id, tags)


def enter_done(place: Place, cells: Iterable[Cell], state: Survey) -> None:
    """Put the runs of cells that were done before below their study."""
    for cell in cells:
        if cell.name in state.done:
            enter(place, cell, state.done[cell.name], None)


def make_way(place: Place, cells: Iterable[Cell]) -> None:
    """Take away what cells that are about to run left under their names, and note what they are now.

    A run of the same code, parameters and data stays: its cell may have been killed after its training, and
    DVC will take that from its cache.
    """
    fingerprints = {cell.name: place.fingerprints.of(cell) for cell in cells}
    remove_experiments(place.root, fingerprints.keys())
    for name, run in place.log.runs(fingerprints).items():
        if (run.tags.get(FINGERPRINT) or place.ledger.get(name)) != fingerprints[name]:
            place.log.supersede(run.run_id)
    place.ledger.add(fingerprints)


def known_seconds(runs: Iterable[CellRun]) -> list[float]:
    """Return how long each cell took, where that was noted."""
    return [float(run.tags[SECONDS]) for run in runs if SECONDS in run.tags]


def _stand_in(place: Place, cell: Cell, experiment: Experiment) -> None:
    source = json.loads(read_at(place.root, experiment, "data/model/run.json"))["mlflow_run_id"]
    scores: dict[str, Any] = {}
    if cell.phase == "confirmation":  # otherwise the file is the commit's, not the cell's
        metrics = json.loads(read_at(place.root, experiment, "reports/metrics.json"))
        scores = {part: metrics[part] for part in ("validation", "test")}
    tags = {"dvc.experiment": experiment.name, "dvc.baseline": experiment.baseline}
    place.log.stand_in(tags, source, apply(place.params, cell.overrides), scores)
