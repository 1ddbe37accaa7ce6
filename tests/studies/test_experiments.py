import subprocess
from pathlib import Path

import pytest

from candlecast.studies.experiments import Experiment, experiments


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    identity = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    for arguments in (["init", "--quiet"], ["commit", "--quiet", "--allow-empty", "--message", "first"]):
        subprocess.run(["git", *identity, *arguments], cwd=tmp_path, check=True)
    return tmp_path


def test_experiments_are_found_and_dvc_s_own_references_are_not(repository: Path) -> None:
    head = subprocess.check_output(["git", "rev-parse", "HEAD"], cwd=repository, text=True).strip()
    for ref in (f"{head[:2]}/{head[2:]}/small", "stash", "celery/stash", f"apply/{head[:2]}/{head[2:]}/x"):
        subprocess.run(["git", "update-ref", f"refs/exps/{ref}", head], cwd=repository, check=True)
    assert experiments(repository) == [Experiment("small", head, head)]


def test_a_folder_without_git_has_no_experiments(tmp_path: Path) -> None:
    assert experiments(tmp_path) == []
