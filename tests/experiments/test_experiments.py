"""DVC's ways of running an experiment, on the whole pipeline, made small."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from experiments.clones import copy_of, dvc, git, make_clone, stages_run, wait_for_queue
from mlflow.entities import Run

from candlecast.tracking.backend import connect
from candlecast.tracking.store import Store, tracking_store

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800)]

RESULTS = (
    "data/raw/bars.parquet",
    "data/raw/manifest.json",
    "data/features/features.parquet",
    "data/windows/features.npy",
    "data/windows/standardizer.json",
    "data/baselines/predictions.parquet",
    "data/model/model.safetensors",
    "data/predictions/predictions.parquet",
    "reports/training/history.csv",
    "reports/metrics.json",
)


def runs(store: Store) -> list[Run]:
    client, experiment = connect(store)
    return list(client.search_runs([experiment]))


def runs_of(folder: Path, experiment: str) -> list[Run]:
    return [
        run for run in runs(tracking_store({}, folder)) if run.data.tags.get("dvc.experiment") == experiment
    ]


def artifact(store: Store, run: Run, path: str) -> bytes:
    client, _ = connect(store)
    return Path(client.download_artifacts(run.info.run_id, path)).read_bytes()


def results(folder: Path) -> dict[str, bytes]:
    return {name: (folder / name).read_bytes() for name in RESULTS}


@pytest.fixture(scope="module")
def clone(finished_repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A repository whose pipeline has run, and whose store is fresh."""
    folder = copy_of(finished_repository, tmp_path_factory.mktemp("experiments") / "first")
    yield folder
    dvc(folder, "queue", "stop")  # a worker without work would stay


@pytest.fixture(scope="module")
def grid(clone: Path) -> str:
    """Two queued experiments that ran at once after the code they were queued with was broken; the status."""
    assert not (clone / "mlflow.db").exists()  # so two processes open a fresh store at once
    dvc(clone, "exp", "run", "--queue", "-S", "accum.steps=2,3", "-n", "grid")
    code = clone / "src" / "candlecast" / "errors.py"
    kept = code.read_text()
    code.write_text("raise RuntimeError('this came later')\n")
    try:
        dvc(clone, "queue", "start", "--jobs", "2")
        return wait_for_queue(clone)
    finally:
        code.write_text(kept)


def test_a_second_repro_has_nothing_to_do(clone: Path) -> None:
    said = dvc(clone, "repro")
    assert stages_run(said) == []
    assert "up to date" in said


def test_two_clones_give_the_same_bytes(clone: Path, tmp_path: Path) -> None:
    other = make_clone(tmp_path / "a folder elsewhere")
    dvc(other, "repro")
    assert results(other) == results(clone)


def test_training_and_evaluation_are_one_run_that_says_what_it_is(finished_repository: Path) -> None:
    store = tracking_store({}, finished_repository.parent)
    (run,) = runs(store)
    assert run.info.status == "FINISHED"
    assert run.data.params["accum.steps"] == "4"
    assert run.data.tags["dvc.stage"] == "train"
    assert run.data.tags["git.dirty"] == "false"
    metrics = json.loads((finished_repository / "reports/metrics.json").read_text())
    accuracy = metrics["test"]["directional_accuracy"]
    assert run.data.metrics["test/directional_accuracy"] == pytest.approx(accuracy)
    report = (finished_repository / "reports/report.html").read_bytes()
    assert artifact(store, run, "report.html") == report


def test_an_experiment_runs_the_code_it_was_queued_with(clone: Path, grid: str) -> None:
    assert grid.count("Success") == 2, dvc(clone, "queue", "logs", "grid-1")


def test_queued_and_temporary_experiments_share_the_repository_s_store(clone: Path, grid: str) -> None:
    said = dvc(clone, "exp", "run", "--temp", "-S", "accum.steps=5", "-n", "alone")
    assert "train" in stages_run(said)
    store = tracking_store({}, clone)
    steps = {run.data.tags["dvc.experiment"]: run.data.params["accum.steps"] for run in runs(store)}
    assert steps == {"grid-1": "2", "grid-2": "3", "alone": "5"}
    for run in runs(store):
        assert run.info.status == "FINISHED"
        assert "test/directional_accuracy" in run.data.metrics
        assert b"<html" in artifact(store, run, "report.html")


def test_an_ablation_reruns_training_and_evaluation_only(clone: Path) -> None:
    said = dvc(clone, "exp", "run", "-S", "accum.steps=1", "-n", "small")
    assert set(stages_run(said)) <= {"check", "train", "evaluate"}
    assert {"train", "evaluate"} <= set(stages_run(said))
    (run,) = runs_of(clone, "small")
    assert run.data.params["accum.steps"] == "1"
    assert "test/directional_accuracy" in run.data.metrics
    assert "small" in dvc(clone, "exp", "show", "--md", "--drop", "Created")
    git(clone, "checkout", "--", ".")
    dvc(clone, "checkout")


def test_a_training_that_dvc_restores_leaves_an_entry_once_it_is_evaluated(clone: Path) -> None:
    said = dvc(clone, "exp", "run", "--temp", "-S", "accum.steps=5", "-S", "evaluate.batch=64", "-n", "again")
    assert "train" not in stages_run(said)
    (run,) = runs_of(clone, "again")
    (trained,) = runs_of(clone, "alone")
    assert run.data.tags["restored.from"] == trained.info.run_id
    assert run.data.metrics["test/directional_accuracy"] == trained.data.metrics["test/directional_accuracy"]
