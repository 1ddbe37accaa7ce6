"""The report: one self-contained HTML page, opened offline, from what the stages left."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
from jinja2 import Environment, PackageLoader, StrictUndefined

from candlecast.data.manifest import Manifest
from candlecast.evaluation.evaluate import MODEL, Metrics, select
from candlecast.files import write_text
from candlecast.report import figures, tables
from candlecast.report.drawing import Drawing
from candlecast.report.verdict import verdict


@dataclass(frozen=True, kw_only=True, slots=True)
class ReportInputs:
    """All that the page tells, as read from the stages' files."""

    forecasts: pl.DataFrame  # schema.FORECASTS: the network's and the baselines', both parts
    metrics: Metrics
    history: pl.DataFrame  # reports/training/history.csv, one row an update
    validation: pl.DataFrame  # reports/training/validation.csv
    manifest: Manifest
    boundaries: Mapping[str, str]  # Split.boundaries: train_start, train_end, validation_start, ...
    params: Mapping[str, Any]  # params.yaml as read
    provenance: Mapping[str, str]  # label -> value: commit, data hash, versions, hardware, MLflow run, ...


def write_report(inputs: ReportInputs, path: Path) -> None:
    """Write the page, the same bytes for the same inputs."""
    write_text(path, render(inputs))


def render(inputs: ReportInputs) -> str:
    """Return the page as HTML."""
    test = select(inputs.forecasts, MODEL, "test")
    horizon = int(inputs.params["windows"]["horizon"])
    environment = Environment(
        loader=PackageLoader("candlecast.report", "."),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    answer, *sentences = verdict(inputs.metrics, test, horizon)
    return environment.get_template("report.html").render(
        answer=answer,
        sentences=sentences,
        test=test,
        horizon=horizon,
        inputs=inputs,
        headline=tables.headline_table(inputs.metrics),
        histories=tables.history_table(inputs.manifest),
        params=list(tables.flatten(inputs.params)),
        drawings={drawing.name: drawing for drawing in _drawings(inputs, test)},
        style=environment.get_template("report.css").render(),
    )


def _drawings(inputs: ReportInputs, test: pl.DataFrame) -> list[Drawing]:
    return [
        figures.split_timeline(inputs.boundaries),
        figures.training_curves(inputs.history, inputs.validation),
        figures.predicted_and_realised(test),
        figures.reliability_diagram(test, int(inputs.params["evaluate"]["reliability_bins"])),
        figures.confusion_matrix(test),
        figures.accuracy_bars(test, "year"),
        figures.accuracy_bars(test, "ticker"),
    ]
