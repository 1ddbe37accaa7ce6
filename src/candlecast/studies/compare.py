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
from candlecast.studies.comparison import Comparison
from candlecast.studies.comparison_document import comparison_document
from candlecast.studies.comparison_tables import contrast_rows, runs_frame_rows
from candlecast.studies.predicted_memory import predicted_peaks

FIGURES: Final = "figures"


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """Where things go: the folder of all, and a Markdown page elsewhere that shows the folder's figures."""

    folder: Path
    findings: Path | None = None


def study_file(root: Path, names: Sequence[str]) -> Path | None:
    """Return the file of the study that is named; None where runs are."""
    if len(names) != 1:
        return None
    (name,) = names
    if name.endswith((".yaml", ".yml")):
        return Path(name)  # loading says so where it is not there
    known = root / "experiments" / f"{name}.yaml"
    return known if known.is_file() else None


def write_comparison(comparison: Comparison, output: Output, command: str) -> Document:
    """Write index.html, summary.md, runs.csv, contrasts.csv and figures/; return what they say."""
    peaks = predicted_peaks({arm: comparison.of(arm)[0].run for arm in comparison.arms})
    document = comparison_document(comparison, peaks, command)
    folder = output.folder
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
    if output.findings is not None:
        base = Path(os.path.relpath(folder.resolve(), output.findings.resolve().parent))

        def figure(drawing: Drawing) -> str:
            return (base / FIGURES / f"{drawing.name}.svg").as_posix()

        write_text(output.findings, text(document, figure))
    return document
