"""A study of three arms whose runs were made up, so that every difference is known."""

import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event
from sqlalchemy.engine import Engine
from studies.fabricated import Scores, add_run
from tracking.migrated import migrate

from candlecast.studies.cells import confirmation_cells, tuning_cells
from candlecast.studies.comparison import Comparison, compare_study
from candlecast.studies.study import Study, load_study
from candlecast.tracking.backend import connect
from candlecast.tracking.runs import RunReader
from candlecast.tracking.store import Store, quiet, tracking_store

STUDY = """
name: made-up
question: Does it?
prediction: It will.
arms:
  small: {description: what fits, overrides: {accum.micro_batch: 16, accum.steps: 1}}
  accumulated: {description: eight times that, overrides: {accum.micro_batch: 16, accum.steps: 8}}
  large: {description: all at once, overrides: {accum.micro_batch: 128, accum.steps: 1}}
tuning: {key: train.peak_lr, values: [1.0e-4, 1.0e-3, 1.0e-2], seeds: [101]}
seeds: [0, 1, 2, 3, 4]
settings:
  {model.width: 8, model.tcn_blocks: 1, windows.length: 24, "baselines.summary_bars": [8]}
budget: {samples: 1024}
decision:
  {metric: METRIC, direction: lower, arm: accumulated, against: small, smallest_effect: 0.002,
   confidence: 0.95}
controls:
  - {metric: val/best_loss, arm: accumulated, against: large, tolerance: 1.0e-3}
"""
OFFSETS = {"small": 0.0, "accumulated": -0.01, "large": -0.01}
# How accumulated differs from small, and by how much that differs between seeds.
DIFFERENCES = {
    "log_loss_error": (-0.01, 0.001),  # better by enough
    "brier_error": (0.01, 0.001),  # worse by enough
    "root_mean_squared_error": (0.0, 0.0004),  # equal within what matters
    "mean_absolute_error": (-0.002, 0.003),  # neither shown
}
MISSING = (("large", 3),)  # arm, seed


def made_up_study(folder: Path, metric: str = "test/log_loss_error") -> Study:
    """Write and read the study, decided by `metric`."""
    path = folder / "made-up.yaml"
    path.write_text(STUDY.replace("METRIC", metric))
    return load_study(path)


def scores(arm: str, seed: int) -> Scores:
    """Scores whose paired differences have exactly the mean and deviation stated above."""
    pattern = (-1.0, 0.5, 1.0, -1.0, 0.5)[seed] / 0.935414346693485  # mean 0, deviation 1
    level = 0.69 + 0.01 * seed
    return {
        name: level + (0.0 if arm == "small" else mean + deviation * pattern)
        for name, (mean, deviation) in DIFFERENCES.items()
    }


@pytest.fixture(scope="session")
def unsynced() -> Iterator[None]:
    """Databases that do not wait for the disk, where thousands of points are written to be read once."""

    def leave_syncing(connection: Any, _: object) -> None:
        if isinstance(connection, sqlite3.Connection):
            connection.execute("pragma synchronous = off")

    event.listen(Engine, "connect", leave_syncing)
    yield
    event.remove(Engine, "connect", leave_syncing)


@pytest.fixture(scope="session")
def made_up(unsynced: None, tmp_path_factory: pytest.TempPathFactory) -> Store:
    """A store with every cell of the study but MISSING, and the study's parent run."""
    quiet(os.environ)
    root = tmp_path_factory.mktemp("made-up")
    store = tracking_store({}, root)
    client, experiment = connect(store)
    study = made_up_study(root)
    client.create_run(
        experiment, tags={"candlecast.study": study.name, "candlecast.role": "study"}, run_name=study.name
    )
    for cell in tuning_cells(study):
        far = {1e-4: 0.2, 1e-3: 0.0, 1e-2: 0.3}[cell.value]
        best_is_at_the_edge = cell.arm == "large"
        add_run(client, experiment, cell, OFFSETS[cell.arm] + (-far if best_is_at_the_edge else far))
    for cell in confirmation_cells(study, dict.fromkeys(study.arms, 1e-3)):
        if (cell.arm, cell.seed) not in MISSING:
            add_run(client, experiment, cell, OFFSETS[cell.arm], scores(cell.arm, cell.seed))
    return store


@pytest.fixture(scope="session")
def comparison(made_up: Store, tmp_path_factory: pytest.TempPathFactory) -> Comparison:
    """What the study says of its made-up runs, by the log loss; gathering them takes seconds."""
    return compare_study(RunReader(made_up), made_up_study(tmp_path_factory.mktemp("study")))


@pytest.fixture(scope="session")
def migrated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store's database with every table and the experiment."""
    return migrate(tmp_path_factory.mktemp("migrated"))
