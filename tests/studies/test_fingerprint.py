from pathlib import Path
from typing import Any

import pytest

from candlecast.studies.cells import Cell
from candlecast.studies.fingerprint import Fingerprints

DVC_YAML = """
stages:
  get:
    cmd: get
    deps: [code/get.py]
    params: [data]
    outs: [raw]
  train:
    cmd: train
    deps: [raw/bars, code/train]
    params: [train, seed]
    outs:
      - model: {cache: true}
  judge:
    cmd: judge
    deps: [model, code/judge.py]
    params: [judge]
    metrics:
      - scores.json: {cache: false}
"""
PARAMS: dict[str, Any] = {
    "data": {"source": "sample", "path": None},
    "train": {"lr": 1},
    "judge": 2,
    "seed": 0,
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "dvc.yaml").write_text(DVC_YAML)
    (tmp_path / "code" / "train").mkdir(parents=True)
    for name in ("get.py", "judge.py", "train/a.py"):
        (tmp_path / "code" / name).write_text(name)
    return tmp_path


def fingerprint(root: Path, phase: str = "tuning", threads: int = 1, **changes: Any) -> str:
    assert phase in ("tuning", "confirmation")
    overrides = {name.replace("_", "."): value for name, value in changes.items()}
    cell = Cell("s", "a", phase, 1.0, 0, "s-a", overrides)  # type: ignore[arg-type]
    return Fingerprints(root, PARAMS, threads).of(cell)


def test_it_stays_while_nothing_that_a_stage_reads_changes(root: Path) -> None:
    before = fingerprint(root)
    (root / "README.md").write_text("new")
    (root / "code" / "train" / "__pycache__").mkdir()
    (root / "code" / "train" / "__pycache__" / "a.pyc").write_text("compiled")
    (root / "code" / "judge.py").write_text("new")  # comes after training
    assert fingerprint(root) == before
    assert fingerprint(root, judge=3) == before


@pytest.mark.parametrize("name", ["code/get.py", "code/train/a.py", "code/train/b.py"])
def test_code_of_the_stage_or_of_one_before_it_changes_it(root: Path, name: str) -> None:
    before = fingerprint(root)
    (root / name).write_text("other")
    assert fingerprint(root) != before


def test_a_command_and_the_number_of_threads_change_it(root: Path) -> None:
    before = fingerprint(root)
    assert fingerprint(root, threads=2) != before
    (root / "dvc.yaml").write_text(DVC_YAML.replace("cmd: train", "cmd: train harder"))
    assert fingerprint(root) != before


@pytest.mark.parametrize("changes", [{"train_lr": 2}, {"seed": 1}, {"data_source": "synthetic"}])
def test_a_parameter_that_is_read_changes_it(root: Path, changes: dict[str, Any]) -> None:
    assert fingerprint(root, **changes) != fingerprint(root)


def test_a_confirmation_reads_what_comes_after_training_too(root: Path) -> None:
    before = fingerprint(root, "confirmation")
    assert before != fingerprint(root, "tuning")
    assert fingerprint(root, "confirmation", judge=3) != before
    (root / "code" / "judge.py").write_text("other")
    assert fingerprint(root, "confirmation") != before


def test_the_bytes_of_one_s_own_data_change_it(root: Path) -> None:
    own = root / "mine.csv"
    own.write_text("1")
    changes = {"data_source": "files", "data_path": str(own)}
    before = fingerprint(root, **changes)
    own.write_text("2")
    assert fingerprint(root, **changes) != before
