import dataclasses
import datetime
import json
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from ruamel.yaml import YAML

from candlecast.errors import EvaluationError
from candlecast.evaluation.evaluate import select
from candlecast.schema import FORECASTS
from candlecast.studies.fold_run import FoldRun, read_fold_run
from candlecast.studies.pool import check_folds, pool_runs, pooled_text

ROOT = Path(__file__).parents[2]
DAYS, TICKERS, HORIZON = 24, 3, 2
FIRST = datetime.date(2011, 3, 1)
MEANS = (0.001, 0.004)


def forecasts(model: str, first_day: int, seed: int) -> pl.DataFrame:
    """Rows of DAYS days from `first_day` on, whose outcomes depend on the day alone."""
    generator = np.random.default_rng(seed)
    rows = [(first_day + day, ticker) for day in range(DAYS) for ticker in range(TICKERS)]
    realised = [float(np.random.default_rng([day, ticker]).normal(0, 0.03)) for day, ticker in rows]
    columns: dict[str, Any] = {
        "model": model,
        "part": "test",
        "ticker": [f"T{ticker}" for _, ticker in rows],
        "date": [FIRST + datetime.timedelta(day) for day, _ in rows],
        "realised_return": realised,
        "forecast_return": generator.normal(0, 0.01, len(rows)),
        "probability_up": generator.uniform(0.3, 0.7, len(rows)),
    }
    return pl.DataFrame(columns).select(FORECASTS.names()).cast(dict(FORECASTS))


def make_run(folder: Path, fold: int, first_day: int, folds: int = 2) -> str:
    """Leave in `folder` what a run of this fold would, and return its name."""
    for name in ("windows", "predictions", "baselines", "features", "raw"):
        (folder / "data" / name).mkdir(parents=True)
    network = forecasts("candlecast", first_day, seed=fold)
    # The spans in which checkpoints are chosen overlap other folds' test spans, and are not pooled.
    validation = network.with_columns(part=pl.lit("validation"), date=pl.col("date").dt.offset_by("-10d"))
    pl.concat([network, validation]).write_parquet(folder / "data/predictions/predictions.parquet")
    pl.concat(
        forecasts(name, first_day, seed=10 + index) for index, name in enumerate(("zero_return", "ridge"))
    ).write_parquet(folder / "data/baselines/predictions.parquet")
    days = range(3 * DAYS)
    pl.DataFrame(
        {
            "ticker": [f"T{ticker}" for ticker in range(TICKERS) for _ in days],
            "date": [FIRST + datetime.timedelta(day) for _ in range(TICKERS) for day in days],
            "close": np.random.default_rng(5).uniform(90, 110, 3 * DAYS * TICKERS),
            "rsi": 0.0,
        }
    ).write_parquet(folder / "data/features/features.parquet")
    boundaries = {"test_start": str(network["date"].min()), "test_end": str(network["date"].max())}
    split = {"fold": fold, "folds": folds, "boundaries": boundaries}
    (folder / "data/windows/split.json").write_text(json.dumps(split))
    (folder / "data/windows/standardizer.json").write_text(json.dumps({"target_mean": MEANS[fold % 2]}))
    (folder / "data/raw/manifest.json").write_text(json.dumps({"content_sha256": "ab" * 32}))
    yaml = YAML()
    params = yaml.load(ROOT / "params.yaml")
    params["windows"].update(fold=fold, folds=folds, horizon=HORIZON)
    params["evaluate"].update(bootstrap_replications=100, calibration_simulations=0)
    yaml.dump(params, folder / "params.yaml")
    return str(folder)


@pytest.fixture
def walk(tmp_path: Path) -> list[str]:
    """Two folds, the later one named first."""
    return [make_run(tmp_path / "late", 1, DAYS), make_run(tmp_path / "early", 0, 0)]


@pytest.fixture
def runs(walk: list[str], tmp_path: Path) -> list[FoldRun]:
    return [read_fold_run(tmp_path, name) for name in reversed(walk)]


def test_every_day_counts_once_against_its_own_folds_training_mean(walk: list[str], tmp_path: Path) -> None:
    pooled = pool_runs(tmp_path, walk, trainings=2)
    frames = [select(run.forecasts, "candlecast", "test") for run in pooled.runs]
    realised, forecast = (
        np.concatenate([frame[name].to_numpy() for frame in frames])
        for name in ("realised_return", "forecast_return")
    )
    up = np.concatenate([frame["probability_up"].to_numpy() > 0.5 for frame in frames])
    means = np.repeat(MEANS, DAYS * TICKERS)
    test = pooled.metrics["test"]
    assert test["directional_accuracy"] == pytest.approx(float((up == (realised > 0)).mean()), abs=1e-12)
    expected = 1 - ((realised - forecast) ** 2).sum() / ((realised - means) ** 2).sum()
    assert test["out_of_sample_r2_score"] == pytest.approx(expected, abs=1e-12)
    assert pooled.assessment is not None
    evidence = pooled.assessment.evidence
    assert (evidence.windows, evidence.days) == (2 * DAYS * TICKERS, 2 * DAYS)
    assert evidence.score("out_of_sample_r2_score").value == pytest.approx(expected, abs=1e-12)


def test_the_folds_are_one_trial_and_every_other_training_is_one_more(
    walk: list[str], tmp_path: Path
) -> None:
    for trainings, trials, words in ((2, 1, "multiplied by 1."), (7, 6, "by 6."), (0, 1, "is not known")):
        pooled = pool_runs(tmp_path, walk, trainings)
        assert pooled.assessment is not None
        assert pooled.assessment.evidence.trials == trials
        assert words in pooled_text(pooled)


def test_the_text_shows_every_fold_and_the_intervals_of_the_pool(walk: list[str], tmp_path: Path) -> None:
    text = pooled_text(pool_runs(tmp_path, walk, trainings=2))
    lines = text.splitlines()
    first, second = (next(line for line in lines if line.startswith(f"| {fold} |")) for fold in (0, 1))
    assert "early" in first
    assert "2011-03-01 to 2011-03-24" in first
    assert "late" in second
    assert "2011-03-25 to 2011-04-17" in second
    assert any("95% interval" in line for line in lines)
    assert "Long/short" in text


def test_two_runs_of_one_fold_are_refused_with_a_hint(runs: list[FoldRun]) -> None:
    again = dataclasses.replace(runs[0], name="again")
    with pytest.raises(EvaluationError, match=r"early and again: both are fold 0 of 2; .* candlecast ui"):
        check_folds([runs[0], again, runs[1]])


def test_a_fold_left_out_is_named_with_the_command_that_runs_it(runs: list[FoldRun]) -> None:
    with pytest.raises(
        EvaluationError, match=r"no run of fold 1 of 2.*: dvc exp run -S windows.folds=2 -S windows.fold=1$"
    ):
        check_folds(runs[:1])


def test_a_run_without_folds_has_nothing_to_pool(tmp_path: Path) -> None:
    name = make_run(tmp_path / "only", 0, 0, folds=1)
    with pytest.raises(EvaluationError, match=r"only: windows.folds is 1, so there is nothing to pool"):
        pool_runs(tmp_path, [name], trainings=1)


def test_runs_that_differ_in_more_than_the_fold_are_refused(runs: list[FoldRun]) -> None:
    params = {**runs[1].params, "accum": {**runs[1].params["accum"], "steps": 3}}
    with pytest.raises(EvaluationError, match=r"late: accum.steps is 3, in .*early 8; .* differ in windows"):
        check_folds([runs[0], dataclasses.replace(runs[1], params=params)])


def test_runs_on_other_bars_are_refused(runs: list[FoldRun]) -> None:
    with pytest.raises(EvaluationError, match=r"late: holds other bars than .*early"):
        check_folds([runs[0], dataclasses.replace(runs[1], data_sha256="cd" * 32)])


def test_a_window_in_two_folds_is_refused(tmp_path: Path) -> None:
    names = [make_run(tmp_path / "early", 0, 0), make_run(tmp_path / "late", 1, DAYS - 1)]
    with pytest.raises(EvaluationError, match=r"both forecast T0 on 2011-03-24"):
        pool_runs(tmp_path, names, trainings=2)


def test_a_name_that_is_neither_a_folder_nor_a_revision_is_refused(tmp_path: Path) -> None:
    dvc_folder = tmp_path / ".dvc"
    dvc_folder.mkdir()
    (dvc_folder / "config").touch()
    identity = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    for arguments in (["init", "--quiet"], ["add", "."], ["commit", "--quiet", "--message", "first"]):
        subprocess.run(["git", *identity, *arguments], cwd=tmp_path, check=True)
    with pytest.raises(EvaluationError, match=r"^walk-9: neither a folder nor an experiment, branch"):
        read_fold_run(tmp_path, "walk-9")


def test_a_file_that_is_not_there_or_broken_is_named(walk: list[str], tmp_path: Path) -> None:
    path = tmp_path / "late" / "data" / "baselines" / "predictions.parquet"
    path.write_bytes(b"not Parquet")
    with pytest.raises(EvaluationError, match=r"late: data/baselines/predictions.parquet cannot be read"):
        read_fold_run(tmp_path, walk[0])
    path.unlink()
    with pytest.raises(EvaluationError, match=r"late: data/baselines/predictions.parquet is not there; run"):
        read_fold_run(tmp_path, walk[0])
