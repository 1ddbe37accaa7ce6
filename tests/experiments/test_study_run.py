"""A study of 24 cells on DVC's queue, two at a time, of which a worker and the runner itself are killed."""

import os
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest
from experiments.clones import commit_all, dvc, environment, git, make_clone

from candlecast.studies.experiments import experiments
from candlecast.tracking.backend import connect
from candlecast.tracking.store import tracking_store
from candlecast.tracking.studies import SUPERSEDED

pytestmark = [pytest.mark.slow, pytest.mark.study, pytest.mark.timeout(1800)]

STUDY = """
name: grid
question: Is a large batch better?
prediction: Not on two tickers.
arms:
  small: {description: 8 x 1, overrides: {accum.steps: 1}}
  large: {description: 8 x 4, overrides: {accum.steps: 4}}
tuning: {key: train.peak_lr, values: [3.0e-4, 1.0e-3, 3.0e-3, 1.0e-2], seeds: [101, 102, 103]}
seeds: [0, 1, 2, 3, 4]
settings: {train.validate_every: 64}
budget: {samples: 64}
decision:
  {metric: val/best_loss, direction: lower, arm: large, against: small, smallest_effect: 0.1, confidence: 0.9}
"""
COMMAND = [
    sys.executable,
    "-c",
    "from candlecast.cli import main; main()",
    "study",
    "run",
    "experiments/grid.yaml",
]


def environ() -> dict[str, str]:
    return environment() | {"PYTHONPATH": "src"}


@contextmanager
def running(folder: Path, said: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Start the study with its words going into a file, and leave nothing of it behind."""
    with said.open("wb") as output:
        process = subprocess.Popen(
            [*COMMAND, "--jobs", "2", "--phase", "tuning", "--accept-edge"],
            cwd=folder,
            env=environ(),
            stdout=output,
            stderr=subprocess.STDOUT,
        )
        try:
            yield process
        finally:
            process.kill()
            process.wait()


def wait_for(pattern: str, said: Path, process: subprocess.Popen[bytes], times: int = 1) -> None:
    end = time.monotonic() + 900
    while len(re.findall(pattern, said.read_text(), re.MULTILINE)) < times:
        assert process.poll() is None, said.read_text()
        assert time.monotonic() < end, said.read_text()
        time.sleep(0.5)


def busy_worker(folder: Path) -> psutil.Process:
    """Return a worker that is at a cell of this repository."""
    end = time.monotonic() + 300
    while time.monotonic() < end:
        for process in psutil.process_iter():
            try:
                ours = "queue-worker" in process.cmdline() and process.cwd().startswith(str(folder))
                if ours and process.children():
                    return process
            except psutil.Error:
                continue
        time.sleep(0.2)
    raise AssertionError("no worker is at a cell")


def dry_run(folder: Path) -> str:
    command = [*COMMAND, "--dry-run"]
    return subprocess.check_output(command, cwd=folder, env=environ(), text=True)


@pytest.fixture
def clone(tmp_path: Path) -> Iterator[Path]:
    folder = make_clone(tmp_path / "clone")
    (folder / "experiments").mkdir(exist_ok=True)
    (folder / "experiments" / "grid.yaml").write_text(STUDY)
    commit_all(folder)
    yield folder
    dvc(folder, "queue", "stop", "--kill")


def test_every_cell_is_there_once_although_a_worker_and_the_runner_were_killed(
    clone: Path, tmp_path: Path
) -> None:
    said = tmp_path / "said.txt"
    with running(clone, said) as process:
        wait_for("^done ", said, process, times=2)
        os.kill(busy_worker(clone).pid, signal.SIGKILL)
        wait_for("^lost .* queued again", said, process)
        wait_for("^done ", said, process, times=5)
        process.kill()
    with running(clone, said) as process:
        assert process.wait(timeout=1500) == 0, said.read_text()
    assert "mean train.peak_lr -> val/best_loss over 3 seeds" in said.read_text()

    cells = {experiment.name for experiment in experiments(clone)}
    assert len(cells) == len(experiments(clone)) == 24
    client, experiment_id = connect(tracking_store({}, clone))
    everyone = client.search_runs([experiment_id])
    (parent,) = [run for run in everyone if run.info.run_name == "grid"]
    runs = [run for run in everyone if run is not parent and SUPERSEDED not in run.data.tags]
    assert Counter(run.data.tags["dvc.experiment"] for run in runs) == dict.fromkeys(cells, 1)
    assert {run.info.status for run in runs} == {"FINISHED"}
    assert {run.data.tags["mlflow.parentRunId"] for run in runs} == {parent.info.run_id}
    assert {run.data.tags["candlecast.phase"] for run in runs} == {"tuning"}
    assert not [run for run in runs if "test/log_loss_error" in run.data.metrics]
    assert "Not on two tickers." in parent.data.tags["mlflow.note.content"]

    # A commit of what no stage reads makes no cell a new one.
    (clone / "README.md").write_text("changed")
    git(clone, "commit", "--all", "--quiet", "--message", "words")
    assert "24 tuning cells, 24 of them done" in dry_run(clone)
    # Other code does.
    with (clone / "src" / "candlecast" / "training" / "loss.py").open("a") as file:
        file.write("# changed\n")
    assert "24 tuning cells, 0 of them done" in dry_run(clone)
