"""`candlecast compare`: gather, judge, and write page, text, tables and figures."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import polars as pl

from candlecast.files import replacing, write_text
from candlecast.report.document import Document, page, text
from candlecast.report.drawing import Drawing, standalone
from candlecast.studies.comparison import Comparison, compare_runs, compare_study
from candlecast.studies.comparison_document import comparison_document, outcome_lines
from candlecast.studies.comparison_tables import contrast_rows, runs_frame_rows
from candlecast.studies.predicted_memory import predicted_peaks
from candlecast.studies.study import load_study
from candlecast.tracking.runs import RunReader
from candlecast.tracking.store import Store

FIGURES: Final = "figures"


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What is to be compared, and where the result goes."""

    what: Sequence[str]  # a study, or runs
    query: str | None  # MLflow's filter
    name: str  # of a set of runs
    confidence: float  # of intervals, outside a study
    folder: Path | None  # None: reports/studies/<name>
    findings: Path | None  # a Markdown page elsewhere, which shows the folder's figures
    command: str  # that makes it all again


def compare(root: Path, store: Store, request: Request) -> list[str]:
    """Gather, judge and write; return what to say."""
    reader, file = RunReader(store), study_file(root, request.what)
    if file is not None and request.query is None:
        comparison = compare_study(reader, load_study(file))
    else:
        runs = reader.named(request.what)
        runs += reader.matching(request.query) if request.query else []
        comparison = compare_runs(reader, runs, request.name, request.confidence)
    folder = request.folder or root / "reports" / "studies" / comparison.name
    document = write_comparison(comparison, folder, request.findings, request.command)
    missing = [f"missing: {note}" for note in comparison.notes]
    return [
        document.headline,
        *document.lead,
        *outcome_lines(comparison),
        *missing,
        f"Open {folder / 'index.html'}",
    ]


def study_file(root: Path, names: Sequence[str]) -> Path | None:
    """Return the file of the study that is named; None where runs are."""
    if len(names) != 1:
        return None
    (name,) = names
    if name.endswith((".yaml", ".yml")):
        return Path(name)  # loading says so where it is not there
    known = root / "experiments" / f"{name}.yaml"
    return known if known.is_file() else None


def write_comparison(comparison: Comparison, folder: Path, findings: Path | None, command: str) -> Document:
    """Write index.html, summary.md, runs.csv, contrasts.csv and figures/; return what they say."""
    peaks = predicted_peaks({arm: comparison.example(arm).run for arm in comparison.arms})
    document = comparison_document(comparison, peaks, command)
    for drawing in document.drawings():
        write_text(folder / FIGURES / f"{drawing.name}.svg", standalone(drawing))
    write_text(folder / "index.html", page(document))
    write_text(folder / "summary.md", text(document, lambda drawing: f"{FIGURES}/{drawing.name}.svg"))
    for name, rows in (
        ("runs", runs_frame_rows(comparison)),
        ("contrasts", contrast_rows(comparison.contrasts)),
    ):
        with replacing(folder / f"{name}.csv") as temporary:
            pl.DataFrame(rows, infer_schema_length=None).write_csv(temporary)
    if findings is not None:
        base = Path(os.path.relpath(folder.resolve(), findings.resolve().parent))

        def figure(drawing: Drawing) -> str:
            return (base / FIGURES / f"{drawing.name}.svg").as_posix()

        write_text(findings, text(document, figure))
    return document
