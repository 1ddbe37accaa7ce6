"""Forecast with the trained network, score it beside the baselines, and write the report."""

import os
from pathlib import Path

import polars as pl

from candlecast.data.config import DataConfig
from candlecast.data.manifest import read_manifest
from candlecast.evaluation.assess import Assessment, assess, with_runs, write_assessment
from candlecast.evaluation.audit import Audit
from candlecast.evaluation.config import EvaluateConfig
from candlecast.evaluation.days import span_digest
from candlecast.evaluation.evaluate import evaluate, write_metrics
from candlecast.evaluation.forecast import forecast
from candlecast.evaluation.headline import write_headline
from candlecast.features.config import FeaturesConfig
from candlecast.files import replacing
from candlecast.forecasting.card import Card, Proof, Spans
from candlecast.forecasting.forecaster import save_forecaster
from candlecast.forecasting.table import example_table
from candlecast.params import load_params, read_params
from candlecast.report.inputs import ReportInputs, read_training
from candlecast.report.page import write_report
from candlecast.report.plots import write_plots
from candlecast.report.summary import write_summary
from candlecast.report.verdict import answer, skills
from candlecast.schema import BARS, FEATURE_KEYS, FORECASTS, read_frame
from candlecast.stage import run_stage
from candlecast.tracking.kept_model import keep_model
from candlecast.tracking.provenance import provenance
from candlecast.tracking.run_file import read_run
from candlecast.tracking.session import evaluation_run
from candlecast.training.artifact import load_model
from candlecast.training.memory_record import read_memory
from candlecast.windows.store import WindowStore, load_windows

MANIFEST = Path("data/raw/manifest.json")
REPORTS = Path("reports")
WRITTEN = ("metrics.json", "evidence.json", "audit.json", "plots", "figures", "report.html", "summary.md")
MODEL, FORECASTER = Path("data/model"), Path("data/forecaster")


def main() -> None:
    """Write predictions, metrics, plots and the report, and add them to the training's run."""
    config = load_params("evaluate", EvaluateConfig)
    params = read_params(Path("params.yaml"))
    store = load_windows(Path("data/windows"))
    model = load_model(MODEL)
    forecasts = pl.concat(forecast(model, store, part, config.batch) for part in ("validation", "test"))
    with replacing(Path("data/predictions/predictions.parquet")) as path:
        forecasts.write_parquet(path)

    baselines = read_frame(Path("data/baselines/predictions.parquet"), FORECASTS)
    everyone = pl.concat([forecasts, baselines])
    metrics = evaluate(everyone, store.standardizer.target_mean)
    write_metrics(REPORTS / "metrics.json", metrics)
    write_headline(REPORTS / "headline.json", metrics)
    write_plots(REPORTS / "plots", everyone, config.reliability_bins)
    manifest = read_manifest(MANIFEST)
    run_file = MODEL / "run.json"
    history, validation = read_training(REPORTS / "training")
    closes = read_frame(Path("data/features/features.parquet"), FEATURE_KEYS, alone=True)
    with evaluation_run(os.environ, Path.cwd(), params, run_file) as log:
        assessment = assess(
            everyone,
            store.standardizer.target_mean,
            closes,
            store.panel.horizon,
            config,
            trials=log.trainings(),
            seed=load_params("seed", int),
        )
        others = log.daily_losses_of_others(span_digest(everyone, store.panel.horizon))
        assessment = with_runs(assessment, everyone, others, load_params("seed", int))
        write_assessment(REPORTS / "evidence.json", assessment)
        card = card_of(store, assessment)
        save_forecaster(FORECASTER, MODEL, store.standardizer, card)
        inputs = ReportInputs(
            forecasts=everyone,
            metrics=metrics,
            history=history,
            validation=validation,
            manifest=manifest,
            boundaries=store.split.boundaries,
            params=params,
            assessment=assessment,
            audit=Audit.load(REPORTS / "audit.json"),
            memory=read_memory(REPORTS / "training"),
            provenance=provenance(os.environ, Path.cwd(), manifest.content_sha256, run_file),
        )
        write_report(inputs, REPORTS / "report.html", REPORTS / "figures")
        write_summary(inputs, REPORTS / "summary.md")
        # What was found in the bars is in the manifest: as metrics it would head MLflow's page of charts.
        log.scores({"test": metrics["test"], "validation": metrics["validation"]})
        log.files(MANIFEST, *(REPORTS / name for name in WRITTEN))
        bars = read_frame(Path("data/raw/bars.parquet"), BARS)
        keep_model(log, FORECASTER, example_table(bars, card.settling_bars + store.length))


def card_of(store: WindowStore, assessment: Assessment | None) -> Card:
    """Return what goes beside the weights: how bars become windows, and how the model did."""
    data = load_params("data", DataConfig)
    evidence = assessment.evidence if assessment else None
    return Card(
        features=load_params("features", FeaturesConfig),
        checks=data.checks,
        max_gap=data.max_gap,
        horizon=store.panel.horizon,
        tickers=store.panel.tickers,
        spans=Spans(**store.split.boundaries),
        run_id=read_run(MODEL / "run.json"),
        proof=Proof.of(assessment, answer(evidence), skills(evidence) if evidence else ()),
    )


if __name__ == "__main__":
    run_stage(main)
