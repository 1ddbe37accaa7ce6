"""A small report's inputs, all made up."""

import datetime

import numpy as np
import polars as pl
import pytest

from candlecast.data.manifest import History, Manifest, Universe
from candlecast.data.quality import Finding, Quality
from candlecast.evaluation.evaluate import evaluate
from candlecast.report.inputs import ReportInputs
from candlecast.schema import FORECASTS


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
        }
    )


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
            "data": {"path": None, "tickers": ["AAPL", "IBM"]},
            "evaluate": {"reliability_bins": 10},
        },
        provenance={"Commit": "a" * 40, "MLflow run": "0123abcd", "Hardware": "x86_64 CPU, 2 threads"},
    )


@pytest.fixture(scope="session")
def inputs() -> ReportInputs:
    return make_inputs()
