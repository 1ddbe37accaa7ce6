"""A small report's inputs, all made up."""

import datetime

import numpy as np
import polars as pl
import pytest

from candlecast.data.manifest import History, Manifest, Universe
from candlecast.data.quality import Finding, Quality
from candlecast.evaluation.assess import assess, with_runs
from candlecast.evaluation.audit import Audit, Check
from candlecast.evaluation.config import EvaluateConfig
from candlecast.evaluation.days import daily_losses
from candlecast.evaluation.evaluate import evaluate
from candlecast.report.inputs import ReportInputs
from candlecast.schema import FORECASTS
from candlecast.training.memory import MemorySplit
from candlecast.training.memory_record import MemoryRecord

CONFIG = EvaluateConfig(
    batch=8,
    reliability_bins=10,
    bootstrap_replications=200,
    confidence=0.95,
    costs_bp=(0.0, 5.0, 10.0, 20.0),
    calibration_simulations=4,
)


def make_forecasts(model: str, part: str, skill: float, seed: int, days: int = 420) -> pl.DataFrame:
    generator = np.random.default_rng(seed)
    outcomes = np.random.default_rng(500)
    tickers = ("AAPL", "GOOG", "IBM", "MSFT")
    realised = outcomes.normal(0.002, 0.035, (days, len(tickers)))
    forecast = 0.002 + skill * realised + 0.004 * generator.normal(size=realised.shape)
    start = datetime.date(2011, 3, 1) if part == "test" else datetime.date(2009, 12, 1)
    dates = [start + datetime.timedelta(day * 7 // 5) for day in range(days)]
    keys = [(date, ticker) for date in dates for ticker in tickers]
    return pl.DataFrame(
        {
            "model": [model] * len(keys),
            "part": [part] * len(keys),
            "ticker": [ticker for _, ticker in keys],
            "date": [date for date, _ in keys],
            "realised_return": realised.ravel(),
            "forecast_return": forecast.ravel(),
            "probability_up": 1 / (1 + np.exp(-forecast.ravel() * 25)),
        },
        schema=FORECASTS,
    )


def make_closes(dates: list[datetime.date]) -> pl.DataFrame:
    generator = np.random.default_rng(11)
    dates = dates + [dates[-1] + datetime.timedelta(day) for day in range(1, 9)]
    return pl.concat(
        pl.DataFrame({"ticker": [ticker] * len(dates), "date": dates}).with_columns(
            close=pl.Series(100 * np.exp(np.cumsum(generator.normal(0.0003, 0.015, len(dates)))))
        )
        for ticker in ("AAPL", "GOOG", "IBM", "MSFT")
    )


def make_history(updates: int = 200) -> pl.DataFrame:
    generator = np.random.default_rng(2)
    update = np.arange(1, updates + 1)
    return pl.DataFrame(
        {
            "update": update,
            "micro_step": update * 8,
            "skipped_updates": np.zeros(updates, dtype=int),
            "samples_seen": update * 128,
            "epoch": update * 128 / 9000,
            "loss": 0.85 + 0.3 * np.exp(-update / 30) + 0.06 * generator.normal(size=updates),
            "grad_norm": np.exp(0.3 * generator.normal(size=updates)),
            "lr": 1e-3 * np.minimum(update / 20, np.cos(np.pi / 2 * update / updates)),
            "noise_scale": np.where(update % 10 == 0, 400 + 200 * update / updates, np.nan),
            "noise_low": np.where(update % 10 == 0, 250.0, np.nan),
            "noise_high": np.where(update % 30 == 0, np.inf, np.where(update % 10 == 0, 900.0, np.nan)),
        }
    ).with_columns(pl.col("^noise_.*$").fill_nan(None))


def make_validation() -> pl.DataFrame:
    seen = np.arange(2048, 25601, 2048)
    loss = 0.9 + 0.05 * np.cos(np.arange(len(seen)) / 2)
    running = np.minimum.accumulate(loss)
    return pl.DataFrame(
        {
            "update": seen // 128,
            "samples_seen": seen,
            "loss": loss,
            "return_rmse_error": loss,
            "directional_accuracy": np.full(len(seen), 0.52),
            "best": loss <= running,
        }
    )


def make_inputs(skill: float = 0.0) -> ReportInputs:
    models = (
        "candlecast",
        "training_mean",
        "zero_return",
        "last_return",
        "ridge_logistic",
        "gradient_boosting",
    )
    forecasts = pl.concat(
        make_forecasts(model, part, skill if model == "candlecast" else 0.0, seed)
        for seed, model in enumerate(models)
        for part in ("validation", "test")
    )
    constant = pl.col("model") == "training_mean"
    forecasts = forecasts.with_columns(
        pl.when(constant).then(0.002).otherwise("forecast_return").alias("forecast_return"),
        pl.when(constant).then(0.53).otherwise("probability_up").alias("probability_up"),
    )
    test_dates = forecasts.filter(part="test")["date"].unique().sort()
    closes = make_closes(test_dates.to_list())
    other = daily_losses(make_forecasts("another", "test", 0.0, seed=77))
    judged = assess(forecasts, 0.002, closes, 5, CONFIG, trials=3, seed=1)
    history = History(
        rows=3270,
        first="2000-03-01",
        last="2013-03-01",
        segments=1,
        currency="USD",
        provisional=(),
        notes=("split 2005-02-28 undone",),
    )
    return ReportInputs(
        forecasts=forecasts,
        metrics=evaluate(forecasts, 0.002),
        history=make_history(),
        validation=make_validation(),
        manifest=Manifest(
            source="sample",
            versions={"bokeh-sampledata": "2026.1"},
            start="2000-03-01",
            end="2013-03-01",
            content_sha256="0123456789abcdef" * 4,
            universe=Universe(
                chosen="four technology companies that lived", as_of="2013", note="They survived."
            ),
            histories=dict.fromkeys(("AAPL", "GOOG", "IBM", "MSFT"), history),
            left_out={"FB": "196 bars, fewer than data.min_bars 600"},
            quality=Quality(
                policies={"zero_volume": "flag"},
                findings=(
                    Finding(
                        check="zero_volume",
                        ticker="IBM",
                        policy="flag",
                        count=3,
                        first="2001-01-02",
                        last="2001-01-04",
                        detail="",
                    ),
                ),
            ),
            revisions=(),
            retrieved_at=None,
        ),
        boundaries={
            "train_start": "2001-08-27",
            "train_end": "2010-02-19",
            "validation_start": "2010-03-01",
            "validation_end": "2011-02-18",
            "test_start": "2011-03-01",
            "test_end": "2013-02-22",
        },
        params={
            "seed": 17,
            "windows": {"length": 256, "horizon": 5, "embargo": 0},
            "accum": {"micro_batch": 16},
            "train": {"peak_lr": 1e-3},
            "data": {"path": None, "tickers": ["AAPL", "IBM"]},
            "evaluate": {"reliability_bins": 10, "costs_bp": [0, 5, 10, 20]},
        },
        assessment=with_runs(judged, forecasts, {"another": other.write_csv()}, seed=1),
        audit=Audit(
            (
                Check("features", "what comes later changes nothing", "ok", "compared bit for bit"),
                Check("data", "how the tickers were chosen", "note", "with hindsight"),
            )
        ),
        memory=MemoryRecord(
            precision="bf16",
            micro_batch=16,
            effective_batch=128,
            checkpoint_activations=True,
            predicted=MemorySplit(
                parameters=2e6, gradients=2e6, optimizer=4e6, activations=9e6, inputs=1e6, copies=2e6
            ),
            measured=25_000_000,
        ),
        provenance={"Commit": "a" * 40, "MLflow run": "0123abcd", "Hardware": "x86_64 CPU, 2 threads"},
    )


@pytest.fixture(scope="session")
def inputs() -> ReportInputs:
    return make_inputs()
