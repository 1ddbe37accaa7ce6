"""All stages in order, as a person or DVC runs them, on a market small enough to train in seconds."""

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
from parameters import ROOT, write_params
from ruamel.yaml import YAML

from candlecast.forecasting.forecaster import Forecaster

STAGES = tuple(YAML(typ="safe").load((ROOT / "dvc.yaml").read_text())["stages"])
SMALL: dict[str, Any] = {
    "data.source": "synthetic",
    "data.synthetic.tickers": 3,
    "data.synthetic.bars": 500,
    "data.min_bars": 300,
    "data.start": "2010-01-01",
    "windows.length": 40,
    "windows.test_start": "2012-11-01",
    "windows.validation_days": 60,
    "features.warmup_bars": 60,
    "model.width": 8,
    "model.tcn_blocks": 2,
    "accum.micro_batch": 8,
    "accum.steps": 4,
    "train.epochs": 1,
    "train.validate_every": 256,
    "baselines.summary_bars": [8, 32],
    "baselines.boosting_iterations": 5,
}


def project(folder: Path, overrides: dict[str, Any]) -> Path:
    """Make a folder in which the stages run: the pipeline, and parameters with some keys set."""
    folder.mkdir(exist_ok=True)
    shutil.copytree(ROOT / "pipeline", folder / "pipeline", dirs_exist_ok=True)
    write_params(folder / "params.yaml", overrides)
    return folder


def run(folder: Path, stage: str) -> subprocess.CompletedProcess[str]:
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("DVC_", "MLFLOW_"))}
    return subprocess.run(
        [sys.executable, f"pipeline/{stage}.py"],
        cwd=folder,
        env={**environment, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )


def run_all(folder: Path) -> Path:
    for stage in STAGES:
        done = run(folder, stage)
        assert done.returncode == 0, f"{stage}: {done.stderr}"
    return folder


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return run_all(project(tmp_path_factory.mktemp("pipeline") / "first", SMALL))


def test_the_stages_leave_what_dvc_yaml_says(finished: Path) -> None:
    stages = YAML(typ="safe").load((ROOT / "dvc.yaml").read_text())["stages"]
    for name, stage in stages.items():
        for out in [*stage.get("outs", []), *stage.get("metrics", [])]:
            path = out if isinstance(out, str) else next(iter(out))
            assert (finished / path).exists(), f"stage {name} left no {path}"


def test_every_window_of_the_test_span_is_forecast_once_by_every_model(finished: Path) -> None:
    network = pl.read_parquet(finished / "data/predictions/predictions.parquet")
    baselines = pl.read_parquet(finished / "data/baselines/predictions.parquet")
    keys = ["part", "ticker", "date"]
    assert network.select(keys).is_unique().all()
    expected = network.select(keys).sort(keys)
    for _, frame in baselines.group_by("model"):
        assert frame.select(keys).sort(keys).equals(expected)


def test_the_folder_that_forecasts_gives_what_the_evaluation_gave(finished: Path) -> None:
    forecaster = Forecaster.load(finished / "data/forecaster")
    network = pl.read_parquet(finished / "data/predictions/predictions.parquet")
    every = forecaster.every(pl.read_parquet(finished / "data/raw/bars.parquet"))
    both = network.join(every, on=["ticker", "date"], how="left", suffix="_folder")
    for name in ("forecast_return", "probability_up"):
        assert (both[name] - both[f"{name}_folder"]).abs().max() < 1e-6, name
    assert every["date"].max() > network["date"].max()


def test_the_metrics_hold_the_network_and_the_baselines(finished: Path) -> None:
    metrics = json.loads((finished / "reports/metrics.json").read_text())
    assert set(metrics) == {"test", "validation", "baselines"}
    assert {"training_mean", "zero_return", "last_return", "ridge_logistic", "gradient_boosting"} <= set(
        metrics["baselines"]
    )
    for scores in (metrics["test"], *metrics["baselines"].values()):
        assert all(name.endswith(("_error", "_score", "_accuracy")) for name in scores)


def test_the_report_opens_offline(finished: Path) -> None:
    page = (finished / "reports/report.html").read_text()
    assert "<svg" in page
    assert "not investment advice" in page
    assert not [word for word in ("<script src", "<link ", 'src="http', "@import") if word in page]


@pytest.mark.slow
def test_a_second_run_leaves_the_same_bytes(finished: Path, tmp_path: Path) -> None:
    again = run_all(project(tmp_path / "second", SMALL))
    for name in (
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
    ):
        assert (again / name).read_bytes() == (finished / name).read_bytes(), name


@pytest.mark.parametrize(
    ("stage", "overrides", "message"),
    [
        (
            "check",
            {"accum.effective_batch": 100},
            "error: accum.effective_batch: 100 is not accum.micro_batch 8",
        ),
        ("check", {"train.peak_lr": "3e-4"}, "error: train.peak_lr: expected a number, found '3e-4'"),
        ("check", {"windows.horizon": 500}, "error: windows.horizon: 500 bars is longer than the test span"),
        (
            "check",
            {"data.source": "sample", "data.tickers": ["AAPL", "QQQQ"]},
            "error: data.tickers: sample has no QQQQ; it has AAPL, FB, GOOG, IBM, MSFT",
        ),
        ("windows", {"windows.horizon": 80}, "error: windows.validation_days: 60 sessions"),
        ("windows", {"windows.length": 480}, "error: windows.length: no history has 480 bars"),
    ],
)
def test_a_wrong_parameter_is_one_line_and_overwrites_nothing(
    finished: Path, tmp_path: Path, stage: str, overrides: dict[str, Any], message: str
) -> None:
    folder = tmp_path / "project"
    shutil.copytree(finished, folder)
    project(folder, {**SMALL, **overrides})
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    done = run(folder, stage)
    assert done.returncode == 1
    lines = [line for line in done.stderr.splitlines() if "left out" not in line]
    assert len(lines) == 1, done.stderr
    assert lines[0].startswith(message)
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before


def test_a_micro_batch_left_to_the_machine_trains_once_although_its_stage_fails_at_the_end(
    finished: Path, tmp_path: Path
) -> None:
    folder, checkpoints = tmp_path / "project", tmp_path / "project/.cache/checkpoints"
    shutil.copytree(finished / "data/windows", folder / "data/windows")
    accum = {"accum.micro_batch": "auto", "accum.steps": None, "accum.effective_batch": 32}
    project(folder, {**SMALL, **accum})
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


def test_a_missing_input_says_which_stage_makes_it(tmp_path: Path) -> None:
    folder = project(tmp_path / "empty", SMALL)
    for stage in ("features", "windows", "baselines", "train", "audit", "evaluate"):
        done = run(folder, stage)
        assert done.returncode == 1, stage
        assert "Traceback" not in done.stderr, f"{stage}: {done.stderr}"
