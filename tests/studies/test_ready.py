import json
import os
import subprocess
from pathlib import Path

import pytest

from candlecast.errors import StudyError
from candlecast.studies.ready import check_ready

DVC_YAML = """
stages:
  judge:
    cmd: judge
    outs: [reports/plots, data/model]
plots:
  - reports/plots/scatter.csv
  - Curves:
      x: {reports/plots/curve.csv: update}
      y: {reports/plots/curve.csv: [loss]}
"""
LOCK = """
schema: '2.0'
stages:
  judge:
    cmd: judge
    outs:
    - {path: data/model, hash: md5, md5: 00000000000000000000000000000001.dir}
    - {path: reports/plots, hash: md5, md5: 00000000000000000000000000000002.dir}
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    subprocess.run(["git", "init", "--quiet"], cwd=tmp_path, check=True)
    (tmp_path / ".dvc").mkdir()
    (tmp_path / ".dvc" / "config").write_text("[core]\n    analytics = false\n")
    (tmp_path / "dvc.yaml").write_text(DVC_YAML)
    subprocess.run(["git", "add", "dvc.yaml"], cwd=tmp_path, check=True)
    return tmp_path


def test_outside_git_the_error_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match=r"not a git repository, .*git init"):
        check_ready(tmp_path)


def test_a_repository_without_results_is_ready(root: Path) -> None:
    check_ready(root)


def test_code_that_git_does_not_know_is_named_before_a_cell_fails_for_lack_of_it(root: Path) -> None:
    (root / "src").mkdir()
    (root / "src" / "new.py").touch()
    (root / "notes.txt").touch()
    with pytest.raises(StudyError, match=r"^src/new\.py: not known to git.*git add src/new\.py$"):
        check_ready(root)
    subprocess.run(["git", "add", "src"], cwd=root, check=True)
    check_ready(root)


def test_plots_that_the_cache_lacks_are_named(root: Path) -> None:
    (root / "dvc.lock").write_text(LOCK)
    with pytest.raises(StudyError, match=r"^reports/plots: dvc\.lock names it.*dvc repro$"):
        check_ready(root)
    cache = root / ".dvc" / "cache" / "files" / "md5" / "00"
    cache.mkdir(parents=True)
    (cache / "000000000000000000000000000002.dir").write_text("[]")
    check_ready(root)


def test_a_pipeline_that_runs_in_the_same_folder_is_named(root: Path) -> None:
    held = root / ".dvc" / "tmp" / "rwlock"
    held.parent.mkdir(parents=True)
    writer = {"pid": os.getpid(), "cmd": "dvc repro"}
    held.write_text(json.dumps({str(root / "data"): {"read": [], "write": writer}}))
    with pytest.raises(
        StudyError, match=rf"^dvc repro \(process {os.getpid()}\) is at work in .*wait for its end$"
    ):
        check_ready(root)
    writer["pid"] = 2**22 + 1  # beyond what Linux gives out: a process that was killed
    held.write_text(json.dumps({str(root / "data"): {"read": [], "write": writer}}))
    check_ready(root)
