"""The report: one self-contained HTML page, opened offline, from what the stages left."""

from pathlib import Path

import polars as pl
from jinja2 import Environment, PackageLoader, StrictUndefined

from candlecast.evaluation.evaluate import MODEL, select
from candlecast.files import write_text
from candlecast.report import figures, tables
from candlecast.report.drawing import Drawing
from candlecast.report.inputs import ReportInputs
from candlecast.report.verdict import verdict


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
        checks=tables.check_table(inputs.manifest),
        quality=inputs.manifest.quality.summary(),
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
