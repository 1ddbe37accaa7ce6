"""The tables of a comparison."""

import math
from collections.abc import Mapping, Sequence
from statistics import fmean, stdev
from typing import Final

from candlecast.evaluation.bootstrap import Interval
from candlecast.report.scores import minus, p_value
from candlecast.report.tables import Cell, Row, Table
from candlecast.studies.article import Claim
from candlecast.studies.coincidence import Coincidence
from candlecast.studies.comparison import Comparison, batches
from candlecast.studies.contrasts import Contrast, Effect
from candlecast.studies.measures import MEASURES, Measure, measure
from candlecast.training.memory import MemorySplit
from candlecast.training.memory_plan import MIB

NOTHING: Final = "\u2013"

# What the table of contrasts shows beside the measure of the rule.
CONTRASTED: Final = (
    "val/best_loss",
    "equal/samples_loss",
    "equal/updates_loss",
    "val/last_loss",
    "test/log_loss_error",
    "test/root_mean_squared_error",
    "test/directional_accuracy",
    "test/brier_error",
)
_MARKS: Final = {"better": "better", "worse": "worse"}


def arms_table(comparison: Comparison, peaks: Mapping[str, MemorySplit]) -> Table:
    """Return each arm's mean and spread over seeds of every measure that one has."""
    heads = tuple((arm, description) for arm, description in comparison.arms.items())
    rows = [
        Row("Batches", tuple(Cell(batches(comparison.example(arm).run)) for arm in comparison.arms)),
        Row("Runs", tuple(Cell(str(len(comparison.of(arm)))) for arm in comparison.arms)),
        Row("Learning rate", tuple(Cell(_rates(comparison, arm)) for arm in comparison.arms)),
        Row("Updates", tuple(Cell(_updates(comparison, arm)) for arm in comparison.arms)),
    ]
    if peaks:
        rows.append(
            Row("Predicted peak of training, MiB", tuple(_peak(peaks.get(arm)) for arm in comparison.arms))
        )
    for shown in MEASURES:
        columns = [
            list(comparison.table.get(arm, {}).get(shown.name, {}).values()) for arm in comparison.arms
        ]
        if any(columns):
            rows.append(Row(shown.label, tuple(Cell(_spread(shown, column)) for column in columns)))
    return Table(heads, tuple(rows))


def contrasts_table(contrasts: Sequence[Contrast], confidence: float, names: Sequence[str]) -> Table:
    """Return every contrast on the chosen measures with intervals, test and a word."""
    level = f"{confidence:.0%}"
    heads = (
        ("Arms", ""),
        ("Difference", "mean over pairs, the first arm less the second"),
        (f"{level} by t", "Student's t over pairs"),
        (f"{level} bootstrap", "bias-corrected and accelerated, over pairs"),
        ("p, Holm", "Student's t, two-sided, adjusted over the contrasts of this measure"),
        ("In spreads", "mean over standard deviation of the differences, Hedges' correction"),
        ("Pairs", "seeds in which both arms were trained"),
        ("So", "better or worse only where Holm's p-value says so"),
    )
    rows = []
    for name in names:
        shown, label = measure(name), measure(name).label
        for contrast in contrasts:
            effect = contrast.effects.get(name)
            if effect is not None:
                rows.append(Row(label, (Cell(contrast.name, "words"), *_effect_cells(effect, shown))))
                label = ""  # said once
    return Table(heads, tuple(rows))


def outcomes_table(contrasts: Sequence[Contrast], names: Sequence[str]) -> Table:
    """Return the mean difference of every measure, a contrast a column, for a quick look."""
    rows = []
    for name in names:
        shown = measure(name)
        cells = []
        for contrast in contrasts:
            effect = contrast.effects.get(name)
            if effect is None:
                cells.append(Cell(NOTHING))
                continue
            word = verdict_word(effect, shown)
            cells.append(Cell(f"{shown.show_difference(effect.paired.mean)}, {word}", _MARKS.get(word, "")))
        if any(cell.text != NOTHING for cell in cells):
            rows.append(Row(shown.label, tuple(cells)))
    return Table(tuple((contrast.name, "") for contrast in contrasts), tuple(rows))


def _effect_cells(effect: Effect, shown: Measure) -> tuple[Cell, ...]:
    paired, word = effect.paired, verdict_word(effect, shown)
    size = paired.standardised
    return (
        Cell(shown.show_difference(paired.mean), "strong"),
        Cell(_interval(paired.interval, shown)),
        Cell(_interval(paired.bootstrap, shown)),
        Cell(NOTHING if effect.adjusted is None else _p(effect.adjusted)),
        Cell(NOTHING if size is None else minus(f"{size:+.2f}")),
        Cell(str(paired.pairs)),
        Cell(word, _MARKS.get(word, "")),
    )


def _interval(interval: Interval | None, shown: Measure) -> str:
    if interval is None:
        return NOTHING
    return f"{shown.show_difference(interval.low)} to {shown.show_difference(interval.high)}"


def verdict_word(effect: Effect, shown: Measure) -> str:
    """Return better, worse, larger, smaller or cannot tell."""
    if effect.paired.interval is None:
        return "one pair"
    if effect.paired.deviation == 0 and effect.paired.mean == 0:
        return "the same"
    if effect.larger == 0:
        return "cannot tell"
    if shown.better == "neither":
        return "larger" if effect.larger > 0 else "smaller"
    return "better" if (effect.larger > 0) == (shown.better == "higher") else "worse"


def tuning_table(comparison: Comparison) -> Table:
    """Return each arm's mean lowest validation loss at each value tried, the lowest marked."""
    values = sorted({tuned.value for tuned in comparison.tuned})
    heads = (*((f"{value:g}", "") for value in values), ("Confirmed", ""), ("Optimum", ""))
    rows = []
    for arm in comparison.arms:
        means = tuning_means(comparison, arm)
        if not means:
            continue
        best = min(means, key=lambda value: means[value])
        cells = [Cell(_mean_loss(means.get(value)), "best" if value == best else "") for value in values]
        cells += [Cell(_rates(comparison, arm)), Cell(_place(best, values), "words")]
        rows.append(Row(arm, tuple(cells)))
    return Table(heads, tuple(rows))


def _mean_loss(mean: float | None) -> str:
    if mean is None:
        return NOTHING
    return f"{mean:.4f}" if math.isfinite(mean) else "diverged"


def tuning_means(comparison: Comparison, arm: str) -> dict[float, float]:
    """Return an arm's mean lowest validation loss at each value tried."""
    losses: dict[float, list[float]] = {}
    for tuned in comparison.tuned:
        if tuned.arm == arm:
            losses.setdefault(tuned.value, []).append(tuned.loss)
    return {value: fmean(tried) for value, tried in losses.items()}


def claims_table(claims: Sequence[Claim]) -> Table:
    """Return the article's claims, a row each."""
    heads = (("Measured", ""), ("Interval", "over pairs, with its p-value"), ("So", ""))
    marks = {"holds": "better", "holds nearly": "better", "refuted": "worse"}
    rows = [
        Row(
            claim.says,
            (
                Cell(claim.figure, "words"),
                Cell(claim.interval, "words"),
                Cell(claim.word, marks.get(claim.word, "")),
            ),
        )
        for claim in claims
    ]
    return Table(heads, tuple(rows))


def coincidence_table(apart: Coincidence) -> Table:
    """Return the largest difference of each curve and test score between two arms that should coincide."""
    rows = [
        Row("Norm of the first gradient, relative", (Cell(f"{apart.first:.2e}"),)),
        Row("training loss, every update", (Cell(f"{apart.training:.2e}"),)),
        Row("validation loss, every validation", (Cell(f"{apart.validation:.2e}"),)),
        *(
            Row(f"{measure(name).label}", (Cell(f"{value:.2e}"),))
            for name, value in sorted(apart.scores.items())
        ),
    ]
    return Table((("Largest difference", f"over {apart.pairs} pairs of runs"),), tuple(rows))


def runs_frame_rows(comparison: Comparison) -> list[dict[str, str | int | float]]:
    """Return a row for each run with all its measures, for a file."""
    return [
        {
            "arm": trial.arm,
            "seed": trial.seed,
            "fold": trial.fold,
            "tuned": trial.value,
            "run_id": trial.run.run_id,
            "experiment": trial.run.experiment,
            **{
                name: values[trial.pair]
                for name, values in sorted(comparison.table[trial.arm].items())
                if trial.pair in values
            },
        }
        for arm in comparison.arms
        for trial in comparison.of(arm)
    ]


def contrast_rows(contrasts: Sequence[Contrast]) -> list[dict[str, str | int | float | None]]:
    """Return a row for each contrast and measure, for a file."""
    rows: list[dict[str, str | int | float | None]] = []
    for contrast in contrasts:
        for name, effect in contrast.effects.items():
            paired = effect.paired
            t, resampled = paired.interval, paired.bootstrap
            rows.append(
                {
                    "arm": contrast.arm,
                    "against": contrast.against,
                    "measure": name,
                    "pairs": paired.pairs,
                    "difference": paired.mean,
                    "t_low": None if t is None else t.low,
                    "t_high": None if t is None else t.high,
                    "bootstrap_low": None if resampled is None else resampled.low,
                    "bootstrap_high": None if resampled is None else resampled.high,
                    "p_value": paired.p_value,
                    "p_value_holm": effect.adjusted,
                    "p_value_sign_flip": paired.sign_flip,
                    "standardised": paired.standardised,
                }
            )
    return rows


def _place(best: float, values: Sequence[float]) -> str:
    if best == values[0]:
        return "at the lower edge: the grid should go lower"
    if best == values[-1]:
        return "at the upper edge: the grid should go higher"
    return "inside the grid"


def _rates(comparison: Comparison, arm: str) -> str:
    return ", ".join(f"{rate:g}" for rate in sorted({trial.value for trial in comparison.of(arm)}))


def _updates(comparison: Comparison, arm: str) -> str:
    counts = {trial.training["update"][-1] for trial in comparison.of(arm) if trial.training.height}
    return ", ".join(f"{count:,}" for count in sorted(counts))


def _peak(split: MemorySplit | None) -> Cell:
    return Cell(NOTHING if split is None else f"{split.total / MIB:,.1f}")


def _spread(shown: Measure, values: Sequence[float]) -> str:
    if not values:
        return NOTHING
    if len(values) == 1:
        return shown.show(values[0])
    return f"{shown.show(fmean(values))} \u00b1 {shown.show(stdev(values)).lstrip('+')}"


def _p(value: float) -> str:
    return p_value(value).replace("p\u00a0=\u00a0", "").replace("p\u00a0<\u00a0", "< ")
