"""A repository of one's own for an experiment: the working tree's files, tiny parameters, one commit."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

ROOT = Path(__file__).parents[2]

# The whole pipeline in seconds.
TINY: dict[str, Any] = {
    "data": {
        "source": "synthetic",
        "start": "2010-01-01",
        "end": "2013-03-01",
        "min_bars": 300,
        "synthetic": {"tickers": 2, "bars": 500},
    },
    "features": {"warmup_bars": 60},
    "windows": {"length": 40, "test_start": "2012-11-01", "validation_days": 60},
    "model": {"width": 8, "tcn_blocks": 2},
    "accum": {"micro_batch": 8, "steps": 4},
    "train": {"epochs": 1, "validate_every": 256},
    "baselines": {"summary_bars": [8], "boosting_iterations": 5},
    "evaluate": {"bootstrap_replications": 100, "calibration_simulations": 0},
}


def update(values: Any, changes: dict[str, Any]) -> None:
    """Change nested values in place; comments stay."""
    for key, value in changes.items():
        if isinstance(value, dict):
            update(values[key], value)
        else:
            values[key] = value


def set_params(folder: Path, changes: dict[str, Any]) -> None:
    """Change keys of the clone's parameters file."""
    yaml = YAML()
    params = yaml.load(folder / "params.yaml")
    update(params, changes)
    yaml.dump(params, folder / "params.yaml")


def make_clone(folder: Path) -> Path:
    """Copy what git would carry, as it lies in the working tree, and commit it with small parameters."""
    listed = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    for name in subprocess.check_output(listed, cwd=ROOT, text=True).splitlines():
        if (ROOT / name).is_file():
            target = folder / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, target)
    set_params(folder, TINY)
    (folder / "dvc.lock").unlink(missing_ok=True)
    git(folder, "init", "--quiet")
    commit_all(folder)
    return folder


def make_finished(folder: Path) -> Path:
    """Make a clone whose pipeline has run and whose results are committed; its store lies beside it."""
    make_clone(folder)
    dvc(folder, "repro", MLFLOW_TRACKING_URI=f"sqlite:///{folder.parent / 'mlflow.db'}")
    commit_all(folder)
    return folder


def copy_of(finished: Path, folder: Path) -> Path:
    """Copy a finished clone with DVC's cache, but without its store."""
    shutil.copytree(finished, folder, symlinks=True)
    return folder


def git(folder: Path, *arguments: str) -> str:
    """Run git in `folder` as somebody, and return what it printed."""
    identity = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    return subprocess.check_output(["git", *identity, *arguments], cwd=folder, text=True)


def commit_all(folder: Path) -> None:
    """Commit everything that git does not ignore."""
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", "state")


def environment() -> dict[str, str]:
    """Return the environment of a user who has set nothing."""
    left_out = ("MLFLOW_", "DVC_", "PYTEST_", "PYTHONPATH")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(left_out)}
    return kept | {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "DVC_NO_ANALYTICS": "1",
        "OMP_NUM_THREADS": "1",
    }


def dvc(folder: Path, *arguments: str, **variables: str) -> str:
    """Run dvc in `folder`, with variables of the environment set, and return all it said."""
    code, said = _run_dvc(folder, arguments, variables)
    assert code == 0, said
    return said


def _run_dvc(folder: Path, arguments: tuple[str, ...], variables: dict[str, str]) -> tuple[int, str]:
    # Into a file: a worker that `dvc queue start` leaves behind would hold a pipe open.
    with tempfile.TemporaryFile("w+") as output:
        done = subprocess.run(
            ["dvc", *arguments],
            cwd=folder,
            env=environment() | variables,
            stdout=output,
            stderr=subprocess.STDOUT,
            check=False,
        )
        output.seek(0)
        return done.returncode, output.read()


def stages_run(said: str) -> list[str]:
    """Return the stages whose command DVC ran, from what it said."""
    return re.findall(r"Running stage '(\w+)'", said)


def wait_for_queue(folder: Path, seconds: float = 600.0) -> str:
    """Wait until no queued experiment waits or runs, and return the last `dvc queue status`."""
    end = time.monotonic() + seconds
    while True:
        # DVC's status fails where it reads a file of a task that a worker is just writing.
        code, said = _run_dvc(folder, ("queue", "status"), {})
        if code == 0 and not re.search(r"Queued|Running", said):
            return said
        assert time.monotonic() < end, said
        time.sleep(3)  # asking costs seconds of processor time itself
