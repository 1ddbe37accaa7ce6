"""The report: one self-contained HTML page, opened offline, from what the stages left."""

from pathlib import Path
from typing import Any

import polars as pl

from candlecast.evaluation.evaluate import MODEL, select
from candlecast.files import replacing_folder, write_text
from candlecast.report import evidence_tables, sentences, tables
from candlecast.report.drawing import Drawing, standalone
from candlecast.report.inputs import ReportInputs
from candlecast.report.memory_words import memory_sentence, memory_table
from candlecast.report.noise import noise_sentences
from candlecast.report.runs_words import runs_sentences
from candlecast.report.scores import SCORES
from candlecast.report.template import render_page
from candlecast.report.verdict import answer, lead


def write_report(inputs: ReportInputs, path: Path, folder: Path) -> None:
    """Write the page, and its figures as an SVG each into `folder`; the same bytes for the same inputs."""
    drawings = draw(inputs)
    write_text(path, render(inputs, drawings))
    with replacing_folder(folder) as temporary:
        for drawing in drawings:
            write_text(temporary / f"{drawing.name}.svg", standalone(drawing))


def draw(inputs: ReportInputs) -> list[Drawing]:
    """Return the page's figures."""
    test = select(inputs.forecasts, MODEL, "test")
    return [drawing for drawing in _drawings(inputs, test) if drawing is not None]


def render(inputs: ReportInputs, drawings: list[Drawing] | None = None) -> str:
    """Return the page as HTML; the figures are drawn if they are not given."""
    drawings = draw(inputs) if drawings is None else drawings
    test = select(inputs.forecasts, MODEL, "test")
    return render_page(
        "report.html",
        inputs=inputs,
        test=test,
        horizon=int(inputs.params["windows"]["horizon"]),
        lead=lead(inputs.metrics),
        trained=sentences.training_sentence(
            inputs.history, inputs.validation, inputs.params["accum"], inputs.params["train"]
        ),
        one_sided=sentences.one_sided_sentence(test),
        headline=tables.headline_table(inputs.metrics, differences=inputs.assessment is None),
        explained=[score for score in SCORES if score.name in inputs.metrics["test"]],
        histories=tables.history_table(inputs.manifest),
        checks=tables.check_table(inputs.manifest),
        quality=inputs.manifest.quality.summary(),
        audit=evidence_tables.audit_table(inputs.audit) if inputs.audit else None,
        params=list(tables.flatten(inputs.params)),
        noise=noise_sentences(inputs.history),
        memory=memory_table(inputs.memory) if inputs.memory else None,
        held=memory_sentence(inputs.memory) if inputs.memory else "",
        drawings={drawing.name: drawing for drawing in drawings},
        **_judgement(inputs),
    )


def _judgement(inputs: ReportInputs) -> dict[str, Any]:
    assessment = inputs.assessment
    if assessment is None:
        return {"answer": answer(None), "evidence": None}
    evidence, economics = assessment.evidence, assessment.economics
    return {
        "answer": answer(evidence),
        "evidence": evidence,
        "intervals": evidence_tables.evidence_table(evidence),
        "power": sentences.power_sentence(evidence, assessment.power),
        "method": sentences.method_sentence(evidence),
        "claims": sentences.claim_sentences(evidence),
        "family": runs_sentences(assessment.runs, evidence.confidence) if assessment.runs else [],
        "calibrated": evidence_tables.calibration_table(assessment.calibrated)
        if assessment.calibrated
        else None,
        "eagerness": sentences.calibration_sentence(assessment.calibrated),
        "economics": evidence_tables.economics_table(economics),
        "earned": sentences.economics_sentences(economics, evidence.confidence),
    }


def _drawings(inputs: ReportInputs, test: pl.DataFrame) -> list[Drawing | None]:
    from candlecast.report import curves, figures  # here, as matplotlib takes long to import

    rival = tables.best_baseline(inputs.metrics, "directional_accuracy")
    economics = inputs.assessment.economics if inputs.assessment else None
    costs = [float(cost) for cost in inputs.params["evaluate"]["costs_bp"]]
    return [
        figures.split_timeline(inputs.boundaries),
        figures.training_curves(inputs.history, inputs.validation),
        figures.predicted_and_realised(test),
        figures.reliability_diagram(test, int(inputs.params["evaluate"]["reliability_bins"])),
        figures.confusion_matrix(test),
        curves.rolling_accuracy(test, select(inputs.forecasts, rival, "test")),
        figures.accuracy_bars(test, "year"),
        figures.accuracy_bars(test, "ticker"),
        curves.capital_curves(economics, costs[len(costs) // 2]) if economics else None,
        curves.noise_scale(inputs.history),
    ]
