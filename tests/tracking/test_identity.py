import subprocess
from pathlib import Path
from typing import Any

import pytest
from tracking.records import plan

from candlecast.tracking.identity import code_state, dvc_tags, flatten, folder_hash, run_name


def git(folder: Path, *arguments: str) -> None:
    identity = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    subprocess.run(["git", *identity, *arguments], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    git(tmp_path, "init", "--quiet")
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "model.py").write_text("width = 1\n")
    (tmp_path / "params.yaml").write_text("seed: 1\n")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "--quiet", "-m", "first")
    return tmp_path


def test_a_clean_repository_is_its_commit(repository: Path) -> None:
    state = code_state(repository)
    assert len(state.commit or "") == 40
    assert (state.dirty, state.diff) == (False, "")
    assert state.tags() == {"mlflow.source.git.commit": state.commit, "git.dirty": "false"}


def test_changed_code_is_kept_as_a_diff_and_changed_parameters_are_not(repository: Path) -> None:
    (repository / "params.yaml").write_text("seed: 2\n")
    assert not code_state(repository).dirty
    (repository / "src" / "model.py").write_text("width = 2\n")
    state = code_state(repository)
    assert state.dirty
    assert "+width = 2" in state.diff
    assert "seed" not in state.diff


def test_a_new_module_makes_the_code_dirty(repository: Path) -> None:
    (repository / "src" / "new.py").write_text("")
    assert code_state(repository).dirty


def test_outside_a_repository_nothing_is_claimed(tmp_path: Path) -> None:
    state = code_state(tmp_path)
    assert (state.commit, state.tags()) == (None, {"git.dirty": "unknown"})


def test_parameters_become_dotted_names_and_text() -> None:
    params = {
        "seed": 1,
        "accum": {"steps": None},
        "data": {"tickers": ["A", "B"], "path": "ftp://u:p@h/x", "api_key": "qq"},
    }
    assert flatten(params) == {
        "seed": "1",
        "accum.steps": "null",
        "data.tickers": "A, B",
        "data.path": "***",
        "data.api_key": "***",
    }


def test_tags_lead_to_the_dvc_experiment_and_its_batch() -> None:
    environ = {
        "DVC_EXP_NAME": "grid-12",
        "DVC_EXP_BASELINE_REV": "abc",
        "DVC_STAGE": "train",
        "AWS_SECRET_ACCESS_KEY": "x",
    }
    assert dvc_tags(environ) == {
        "dvc.experiment": "grid-12",
        "dvc.batch": "grid",
        "dvc.baseline": "abc",
        "dvc.stage": "train",
    }
    assert dvc_tags({}) == {}


@pytest.mark.parametrize(
    ("accum", "rate", "expected"),
    [
        ({"micro_batch": 16, "steps": 8, "effective_batch": None}, 1e-3, "16x8 bf16 lr1e-3 s0"),
        ({"micro_batch": 16, "steps": None, "effective_batch": 100}, 0.00025, "16x7 bf16 lr0.00025 s0"),
        ({"micro_batch": 8, "steps": 1, "effective_batch": None}, 1.0, "8x1 bf16 lr1 s0"),
        ({"micro_batch": "auto", "steps": None, "effective_batch": 256}, 0.5, "autox256 bf16 lr5e-1 s0"),
    ],
)
def test_a_run_s_name_says_what_differs(accum: dict[str, Any], rate: float, expected: str) -> None:
    assert run_name({"accum": accum, "train": {"precision": "bf16", "peak_lr": rate}, "seed": 0}) == expected


@pytest.mark.parametrize(
    ("accum", "precision", "expected"),
    [
        ({"micro_batch": "auto", "steps": None, "effective_batch": 256}, "auto", "48x6 bf16 lr1e-3 s0"),
        ({"micro_batch": 16, "steps": 8, "effective_batch": None}, "fp32", "16x8 fp32 lr1e-3 s0"),
    ],
)
def test_what_was_left_to_the_machine_is_named_by_what_it_became(
    accum: dict[str, Any], precision: str, expected: str
) -> None:
    params = {"accum": accum, "train": {"precision": precision, "peak_lr": 1e-3}, "seed": 0}
    assert run_name(params, plan(micro_batch=48, precision="bf16")) == expected


def test_a_run_s_name_says_from_which_market_unless_it_is_the_bundled_one() -> None:
    params = {
        "accum": {"micro_batch": 16, "steps": 8, "effective_batch": None},
        "train": {"precision": "bf16", "peak_lr": 1e-3},
        "seed": 0,
    }
    names = [run_name({**params, "data": {"source": source}}) for source in ("sample", "yahoo", "files")]
    assert names == ["16x8 bf16 lr1e-3 s0", "16x8 bf16 lr1e-3 s0 yahoo", "16x8 bf16 lr1e-3 s0 files"]


def test_the_hash_of_a_folder_sees_names_and_contents(tmp_path: Path) -> None:
    (tmp_path / "a.npy").write_bytes(b"1")
    first = folder_hash(tmp_path)
    (tmp_path / "a.npy").rename(tmp_path / "b.npy")
    second = folder_hash(tmp_path)
    (tmp_path / "b.npy").write_bytes(b"2")
    assert len({first, second, folder_hash(tmp_path)}) == 3
