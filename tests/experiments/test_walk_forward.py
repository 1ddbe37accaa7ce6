"""A walk-forward of two tiny folds, queued in DVC and pooled."""

import json
import subprocess
from pathlib import Path

import pytest
from experiments.clones import commit_all, copy_of, dvc, environment, set_params, wait_for_queue

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800)]


def pool(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["candlecast", "pool", *arguments],
        cwd=folder,
        env=environment() | {"PYTHONPATH": "src"},
        check=False,
        capture_output=True,
        text=True,
    )


def test_queued_folds_are_pooled_into_one_span(finished_repository: Path, tmp_path: Path) -> None:
    clone = copy_of(finished_repository, tmp_path / "walk")
    spans = {"folds": 2, "test_start": "2012-06-01", "validation_days": 40}
    set_params(clone, {"windows": spans})
    commit_all(clone)
    dvc(clone, "exp", "run", "--queue", "-n", "walk", "-S", "windows.fold=range(0,2)")
    dvc(clone, "queue", "start", "--jobs", "2")
    wait_for_queue(clone)
    dvc(clone, "queue", "stop")  # a worker without work would stay

    done = pool(clone, "walk-2", "walk-1")
    assert done.returncode == 0, done.stderr
    assert "over 2 folds, pooled" in done.stdout
    assert "The 2 folds count as one trial" in done.stdout
    assert (clone / "reports" / "walk_forward.md").read_text() == done.stdout
    evidence = json.loads((clone / "reports" / "walk_forward.json").read_text())["evidence"]
    assert evidence["windows"] == 2 * evidence["days"]  # two tickers, each day once
    twice = pool(clone, "walk-1", "walk-1", "walk-2")
    assert twice.returncode == 1
    assert twice.stderr.startswith("error: walk-1 and walk-1: both are fold 0 of 2; ")
