"""What all stages in order leave, and what a stage says of a fault, on a small market."""

import json
import os
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from experiments.clones import ROOT, set_params
from ruamel.yaml import YAML

from candlecast.forecasting.forecaster import Forecaster


def project(repository: Path, folder: Path, changes: dict[str, Any]) -> Path:
    """Make a folder in which stages run: the pipeline, and the repository's parameters, some changed."""
    shutil.copytree(repository / "pipeline", folder / "pipeline")
    shutil.copy(repository / "params.yaml", folder)
    set_params(folder, changes)
    return folder


def run(folder: Path, stage: str, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("DVC_", "MLFLOW_"))}
    return subprocess.run(
        [sys.executable, f"pipeline/{stage}.py"],
        cwd=folder,
        env={**environment, "OMP_NUM_THREADS": "1", **variables},
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_stages_leave_what_dvc_yaml_says(finished_repository: Path) -> None:
    stages = YAML(typ="safe").load((ROOT / "dvc.yaml").read_text())["stages"]
    for name, stage in stages.items():
        for out in [*stage.get("outs", []), *stage.get("metrics", [])]:
            path = out if isinstance(out, str) else next(iter(out))
            assert (finished_repository / path).exists(), f"stage {name} left no {path}"


def test_every_window_of_the_test_span_is_forecast_once_by_every_model(finished_repository: Path) -> None:
    network = pl.read_parquet(finished_repository / "data/predictions/predictions.parquet")
    baselines = pl.read_parquet(finished_repository / "data/baselines/predictions.parquet")
    keys = ["part", "ticker", "date"]
    assert network.select(keys).is_unique().all()
    expected = network.select(keys).sort(keys)
    for _, frame in baselines.group_by("model"):
        assert frame.select(keys).sort(keys).equals(expected)


def test_the_folder_that_forecasts_gives_what_the_evaluation_gave(finished_repository: Path) -> None:
    forecaster = Forecaster.load(finished_repository / "data/forecaster")
    network = pl.read_parquet(finished_repository / "data/predictions/predictions.parquet")
    every = forecaster.every(pl.read_parquet(finished_repository / "data/raw/bars.parquet"))
    both = network.join(every, on=["ticker", "date"], how="left", suffix="_folder")
    for name in ("forecast_return", "probability_up"):
        assert (both[name] - both[f"{name}_folder"]).abs().max() < 1e-6, name
    assert every["date"].max() > network["date"].max()


def test_the_metrics_hold_the_network_and_the_baselines(finished_repository: Path) -> None:
    metrics = json.loads((finished_repository / "reports/metrics.json").read_text())
    assert set(metrics) == {"test", "validation", "baselines"}
    assert {"training_mean", "zero_return", "last_return", "ridge_logistic", "gradient_boosting"} <= set(
        metrics["baselines"]
    )
    for scores in (metrics["test"], *metrics["baselines"].values()):
        assert all(name.endswith(("_error", "_score", "_accuracy")) for name in scores)


def test_the_report_opens_offline(finished_repository: Path) -> None:
    page = (finished_repository / "reports/report.html").read_text()
    assert "<svg" in page
    assert "not investment advice" in page
    assert not [word for word in ("<script src", "<link ", 'src="http', "@import") if word in page]


@pytest.mark.parametrize(
    ("stage", "overrides", "message"),
    [
        (
            "check",
            {"accum": {"effective_batch": 100}},
            "error: accum.effective_batch: 100 is not accum.micro_batch 8",
        ),
        ("check", {"train": {"peak_lr": "3e-4"}}, "error: train.peak_lr: expected a number, found '3e-4'"),
        (
            "check",
            {"windows": {"horizon": 500}},
            "error: windows.horizon: 500 bars is longer than the test span",
        ),
        (
            "check",
            {"data": {"source": "sample", "tickers": ["AAPL", "QQQQ"]}},
            "error: data.tickers: sample has no QQQQ; it has AAPL, FB, GOOG, IBM, MSFT",
        ),
        ("windows", {"windows": {"horizon": 80}}, "error: windows.validation_days: 60 sessions"),
        ("windows", {"windows": {"length": 480}}, "error: windows.length: no history has 480 bars"),
    ],
)
def test_a_wrong_parameter_is_one_line_and_overwrites_nothing(
    finished_repository: Path, tmp_path: Path, stage: str, overrides: dict[str, Any], message: str
) -> None:
    folder = project(finished_repository, tmp_path / "project", overrides)
    shutil.copytree(finished_repository / "data", folder / "data")
    shutil.copytree(finished_repository / "reports", folder / "reports")
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    done = run(folder, stage)
    assert done.returncode == 1
    lines = [line for line in done.stderr.splitlines() if "left out" not in line]
    assert len(lines) == 1, done.stderr
    assert lines[0].startswith(message)
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before


def test_a_micro_batch_left_to_the_machine_trains_once_although_its_stage_fails_at_the_end(
    finished_repository: Path, tmp_path: Path
) -> None:
    accum = {"accum": {"micro_batch": "auto", "steps": None, "effective_batch": 32}}
    folder = project(finished_repository, tmp_path / "project", accum)
    checkpoints = folder / ".cache/checkpoints"
    shutil.copytree(finished_repository / "data/windows", folder / "data/windows")
    (folder / "reports").mkdir()
    (folder / "reports/training").write_text("in the way of the stage's outputs")
    assert run(folder, "train").returncode != 0
    assert list(checkpoints.rglob("checkpoint.safetensors"))

    (folder / "reports/training").unlink()
    done = run(folder, "train")
    assert done.returncode == 0, done.stderr
    assert "resumed at update" in done.stderr
    assert "32 x 1 = 32 windows an update" in done.stderr  # memory carries them all, so they are not cut
    assert (folder / "data/model/model.safetensors").exists()
    assert list(checkpoints.iterdir()) == []
    with sqlite3.connect(folder / "mlflow.db") as store:
        assert store.execute("select name, status from runs").fetchall() == [
            ("32x1 fp32 lr1e-3 s17 synthetic", "FINISHED")
        ]
        totals = store.execute("select key from metrics where key like 'total/%'").fetchall()
    assert len(totals) == len(set(totals)) > 0


def test_a_missing_input_says_which_stage_makes_it(finished_repository: Path, tmp_path: Path) -> None:
    folder = project(finished_repository, tmp_path / "empty", {})
    for stage in ("features", "windows", "baselines", "train", "audit", "evaluate"):
        done = run(folder, stage)
        assert done.returncode == 1, stage
        assert "Traceback" not in done.stderr, f"{stage}: {done.stderr}"


def test_a_copy_says_which_code_it_lacks_since_git_does_not_know_it(tmp_path: Path) -> None:
    copy, root = project(ROOT, tmp_path / "copy", {}), tmp_path / "root"
    (root / "src" / "candlecast").mkdir(parents=True)
    subprocess.run(["git", "init", "--quiet"], cwd=root, check=True)
    (root / "src" / "candlecast" / "novel.py").write_text("")
    done = run(copy, "check", DVC_ROOT=str(root), PYTHONPATH=str(ROOT / "src"))
    assert done.returncode == 0
    assert "src/candlecast/novel.py: not known to git, so this experiment runs without it" in done.stderr
