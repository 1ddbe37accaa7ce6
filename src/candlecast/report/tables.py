"""The tables of the report as plain records; the template draws them."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from candlecast.data.manifest import History, Manifest
from candlecast.data.quality import MEANING
from candlecast.evaluation.evaluate import Metrics

LABELS: Final = {
    "candlecast": "Candlecast",
    "training_mean": "Training mean and majority",
    "zero_return": "Zero return",
    "last_return": "Last return again",
    "ridge_logistic": "Ridge and logistic regression",
    "gradient_boosting": "Gradient boosting",
}


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


@dataclass(frozen=True, slots=True)
class Score:
    """How a score of `metrics.json` is shown."""

    name: str
    label: str
    explanation: str
    show: Callable[[float], str]
    show_difference: Callable[[float], str]


def label(model: str) -> str:
    """Return a model's name for a reader."""
    return LABELS.get(model, model.replace("_", " ").capitalize())


def _percent(value: float) -> str:
    return f"{value:.1%}"


def _points(value: float) -> str:
    return f"{100 * value:+.1f} pt".replace("-", "\u2212")


def percent(value: float) -> str:
    """Return a share as a signed percentage."""
    return f"{100 * value:+.2f}%".replace("-", "\u2212")


def _size(value: float) -> str:
    return f"{100 * value:.3f}%"


def _signed(value: float) -> str:
    return f"{value:+.3f}".replace("-", "\u2212")


def _plain(value: float) -> str:
    return f"{value:.3f}"


SCORES: Final = (
    Score(
        "directional_accuracy",
        "Directional accuracy",
        "share of windows whose direction was called right",
        _percent,
        _points,
    ),
    Score(
        "balanced_accuracy",
        "Balanced accuracy",
        "mean of the shares right among ups and among downs; 50% is no skill",
        _percent,
        _points,
    ),
    Score(
        "matthews_correlation_score",
        "MCC",
        "Matthews' correlation of called and realised direction; 0 is no skill",
        _signed,
        _signed,
    ),
    Score(
        "roc_auc_score",
        "ROC-AUC",
        "chance that an up had a higher probability than a down; 0.5 is no skill",
        _plain,
        _signed,
    ),
    Score(
        "brier_error",
        "Brier error",
        "mean squared error of the probability; 0.25 is one half always; lower is better",
        _plain,
        _signed,
    ),
    Score(
        "out_of_sample_r2_score",
        "R\u00b2",
        "share of squared error removed from the training mean's; 0 is no skill",
        percent,
        percent,
    ),
    Score(
        "root_mean_squared_error",
        "RMSE",
        "root mean squared error of the log-return; lower is better",
        _size,
        percent,
    ),
    Score(
        "mean_absolute_error", "MAE", "mean absolute error of the log-return; lower is better", _size, percent
    ),
    Score(
        "daily_rank_information_coefficient_score",
        "Rank IC, daily",
        "rank correlation across tickers, mean over days",
        _signed,
        _signed,
    ),
    Score(
        "pooled_rank_information_coefficient_score",
        "Rank IC, pooled",
        "rank correlation over all windows",
        _signed,
        _signed,
    ),
)


def best_baseline(metrics: Metrics, score: str) -> str:
    """Return the baseline that is best on a score; the first of equals."""
    baselines: Any = metrics["baselines"]
    ordered = min if score.endswith("_error") else max
    chosen: str = ordered(baselines, key=lambda name: baselines[name][score])
    return chosen


def headline_table(metrics: Metrics) -> Table:
    """Return the test scores of the network and of every baseline, the best baseline of each score marked."""
    test: Any = metrics["test"]
    baselines: Any = metrics["baselines"]
    shown = [score for score in SCORES if all(score.name in each for each in (test, *baselines.values()))]
    best = {score.name: best_baseline(metrics, score.name) for score in shown} if baselines else {}
    rows = [Row(label("candlecast"), tuple(Cell(score.show(test[score.name])) for score in shown), "model")]
    if baselines:
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
        cells.append(Cell(score.show_difference(difference), "better" if gain > 0 else "worse"))
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
