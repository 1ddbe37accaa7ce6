"""Cells on other machines: two Ray nodes, a bare git remote, a DVC remote, MLflow over HTTP on PostgreSQL."""

import io
import json
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import psutil
import pytest
from experiments.clones import commit_all, dvc, git, make_clone
from experiments.services import mlflow_server, postgresql, ray_cluster

from candlecast.studies.cells import tuning_cells
from candlecast.studies.command import cell_variables, open_place
from candlecast.studies.experiments import experiments, read_at
from candlecast.studies.pools import RayPool
from candlecast.studies.remote_run import RemoteRunner, find_origin
from candlecast.studies.study import Study, load_study
from candlecast.tracking.backend import connect
from candlecast.tracking.store import tracking_store
from candlecast.tracking.studies import SUPERSEDED

pytestmark = [pytest.mark.slow, pytest.mark.study, pytest.mark.timeout(900)]

STUDY = """
name: away
question: Is a large batch better?
prediction: Not on two tickers.
arms:
  small: {description: 8 x 1, overrides: {accum.steps: 1}}
  large: {description: 8 x 4, overrides: {accum.steps: 4}}
tuning: {key: train.peak_lr, values: [1.0e-3, 3.0e-3, 1.0e-2], seeds: [101]}
seeds: [0, 1, 2, 3, 4]
budget: {samples: 512}
decision:
  {metric: val/best_loss, direction: lower, arm: large, against: small, smallest_effect: 0.1, confidence: 0.9}
"""


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A repository whose data are on a DVC remote, and whose commits are on a git remote."""
    folder = make_clone(tmp_path / "clone")
    (folder / "experiments").mkdir(exist_ok=True)
    (folder / "experiments" / "away.yaml").write_text(STUDY)
    dvc(folder, "remote", "add", "--default", "storage", str(tmp_path / "storage"))
    dvc(folder, "repro", "windows")
    dvc(folder, "push", "--run-cache")
    commit_all(folder)
    git(tmp_path, "init", "--quiet", "--bare", "origin.git")
    git(folder, "remote", "add", "origin", str(tmp_path / "origin.git"))
    git(folder, "push", "--quiet", "--set-upstream", "origin", "HEAD")
    return folder


@pytest.fixture
def services(tmp_path: Path) -> Iterator[tuple[str, str]]:
    """The addresses of an MLflow server and of a Ray cluster."""
    with ExitStack() as stack:
        server = stack.enter_context(mlflow_server(stack.enter_context(postgresql()), tmp_path))
        yield server, stack.enter_context(ray_cluster())


class Killer(threading.Thread):
    """Kills the first worker that is in the middle of a training."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.killed = 0

    def run(self) -> None:
        end = time.monotonic() + 600
        while not self.killed and time.monotonic() < end:
            for process in psutil.process_iter():
                try:
                    if process.name().startswith("ray::") and _trains(process):
                        process.kill()
                        self.killed += 1
                        return
                except psutil.Error:
                    continue
            time.sleep(0.2)


def _trains(process: psutil.Process) -> bool:
    return any("pipeline/train.py" in child.cmdline() for child in process.children(recursive=True))


def test_cells_are_run_elsewhere_and_a_killed_worker_loses_none(
    clone: Path, services: tuple[str, str]
) -> None:
    server, address = services
    environ = {"MLFLOW_TRACKING_URI": server}
    study: Study = load_study(clone / "experiments" / "away.yaml")
    place = open_place(clone, study, environ)
    cells = tuning_cells(study)[:3]
    said = io.StringIO()
    runner = RemoteRunner(
        place=place,
        pool=RayPool(address, 1),
        origin=find_origin(clone, "origin"),
        variables=cell_variables(1) | environ,
        jobs=2,
        stream=said,
    )
    killer = Killer()
    killer.start()
    done = runner.run(cells)
    killer.join(timeout=5)
    assert killer.killed == 1

    names = {cell.name for cell in cells}
    assert done.keys() == names, said.getvalue()
    pushed = git(clone, "ls-remote", "origin", "refs/exps/*").split("\n")
    assert Counter(line.rpartition("/")[2] for line in pushed if line) == dict.fromkeys(names, 1)
    client, experiment = connect(tracking_store(environ, clone))
    runs = [run for run in client.search_runs([experiment]) if "dvc.experiment" in run.data.tags]
    kept = [run for run in runs if SUPERSEDED not in run.data.tags]
    assert Counter(run.data.tags["dvc.experiment"] for run in kept) == dict.fromkeys(names, 1)
    assert {run.info.status for run in kept} == {"FINISHED"}
    assert client.list_artifacts(kept[0].info.run_id)

    # What a cell made is on the DVC remote, and leads to its run.
    made = next(each for each in experiments(clone) if each.name == cells[0].name)
    dvc(clone, "exp", "pull", "origin", made.name)
    run_id = json.loads(read_at(clone, made, "data/model/run.json"))["mlflow_run_id"]
    assert run_id == done[made.name].run_id
