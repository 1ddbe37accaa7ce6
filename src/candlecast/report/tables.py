"""The tables of the report as plain records; the template draws them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from candlecast.data.manifest import History, Manifest
from candlecast.data.quality import MEANING
from candlecast.evaluation.evaluate import Metrics
from candlecast.report.scores import SCORES, Score, label


@dataclass(frozen=True, slots=True)
class Cell:
    """A formatted value, and what it is among its column: "best" baseline, "better" or "worse" than it."""

    text: str
    mark: str = ""


@dataclass(frozen=True, slots=True)
class Row:
    """A labelled line of cells; `kind` is "model", "baseline" or "difference"."""

    label: str
    cells: tuple[Cell, ...]
    kind: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """Column heads with an explanation each, and rows."""

    heads: tuple[tuple[str, str], ...]
    rows: tuple[Row, ...]


def best_baseline(metrics: Metrics, score: str) -> str:
    """Return the baseline that is best on a score; the first of equals."""
    baselines: Any = metrics["baselines"]
    ordered = min if score.endswith("_error") else max
    chosen: str = ordered(baselines, key=lambda name: baselines[name][score])
    return chosen


def headline_table(metrics: Metrics, *, differences: bool = True) -> Table:
    """Return the test scores of the network and of every baseline, the best baseline of each score marked.

    Without `differences` the network's distance to it is left out, for a table of intervals to tell.
    """
    test: Any = metrics["test"]
    baselines: Any = metrics["baselines"]
    models = (test, *baselines.values())
    shown = [score for score in SCORES if score.compared and all(score.name in each for each in models)]
    best = {score.name: best_baseline(metrics, score.name) for score in shown} if baselines else {}
    rows = [Row(label("candlecast"), tuple(Cell(score.show(test[score.name])) for score in shown), "model")]
    if baselines and differences:
        rows.append(_differences(shown, test, baselines, best))
    for name, values in baselines.items():
        marks = ("best" if best[score.name] == name else "" for score in shown)
        cells = (Cell(score.show(values[score.name]), mark) for score, mark in zip(shown, marks, strict=True))
        rows.append(Row(label(name), tuple(cells), "baseline"))
    return Table(tuple((score.label, score.explanation) for score in shown), tuple(rows))


def _differences(shown: list[Score], test: Any, baselines: Any, best: Mapping[str, str]) -> Row:
    cells = []
    for score in shown:
        difference = test[score.name] - baselines[best[score.name]][score.name]
        gain = -difference if score.name.endswith("_error") else difference
        cells.append(
            Cell(score.show_difference(difference), "better" if gain > 0 else "worse" if gain < 0 else "")
        )
    return Row("against the best baseline", tuple(cells), "difference")


def history_table(manifest: Manifest) -> Table:
    """Return each ticker's bars, and the tickers left out with the reason."""
    heads = (("Bars", "daily bars kept"), ("First", "first session"), ("Last", "last session"), ("Note", ""))
    rows = [
        Row(
            ticker,
            (
                Cell(f"{history.rows:,}"),
                Cell(history.first),
                Cell(history.last),
                Cell("; ".join(_remarks(history)), "words"),
            ),
        )
        for ticker, history in manifest.histories.items()
    ]
    empty = (Cell("\u2013"),) * 3
    rows += [
        Row(ticker, (*empty, Cell(f"left out: {reason}", "words")))
        for ticker, reason in manifest.left_out.items()
    ]
    return Table(heads, tuple(rows))


def check_table(manifest: Manifest) -> Table:
    """Return every check of the bars, those that found nothing too, with policy and count."""
    heads = (("Found", ""), ("Then", "what data.checks says is done"), ("What is counted", ""))
    policies = manifest.quality.policies
    rows = [
        Row(
            check,
            (
                Cell(f"{count:,}"),
                Cell(policies.get(check, "not made"), "words"),
                Cell(MEANING[check], "words"),
            ),
        )
        for check, count in manifest.quality.counts().items()
    ]
    return Table(heads, tuple(rows))


def _remarks(history: History) -> list[str]:
    remarks = [f"in {history.currency}"] if history.currency else []
    remarks += history.notes
    if history.segments > 1:
        remarks.append(f"{history.segments} histories, cut at gaps")
    if history.provisional:
        remarks.append(f"{len(history.provisional)} bars the vendor may still change")
    return remarks


def flatten(values: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    """Yield every leaf of nested parameters as its dotted key and text."""
    for key, value in values.items():
        if isinstance(value, Mapping):
            yield from flatten(value, f"{prefix}{key}.")
        else:
            text = ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
            yield f"{prefix}{key}", "null" if value is None else text
