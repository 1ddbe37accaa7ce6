"""The figures that lay trainings side by side: arms as colours, seeds as bands."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, LogFormatterSciNotation, MaxNLocator
from numpy.typing import NDArray

from candlecast.evaluation.bootstrap import Interval
from candlecast.report.drawing import BAD, BASELINE, GOOD, INK, MODEL, MUTED, SIZE, Drawing, canvas, to_svg
from candlecast.report.scores import minus

Floats = NDArray[np.float64]
Curve = tuple[Floats, Floats]  # horizontal, vertical; one training

# Dashes let two arms be seen that coincide, and tell arms apart without colour.
STYLES: Final = ((MODEL, "-"), (BASELINE, "-"), (GOOD, "--"), (BAD, "-."), (MUTED, ":"), (INK, "--"))
_GRID: Final = 200  # places on which curves are met that share none
_HIGHEST: Final = 0.95  # quantile of what is drawn; beyond it a diverged training would flatten the rest


@dataclass(frozen=True, slots=True, kw_only=True)
class Axis:
    """What a set of curves runs along."""

    name: str  # of the figure
    label: str
    logarithmic: bool = False


def seed_bands(curves: Mapping[str, Sequence[Curve]], axis: Axis, title: str, caption: str) -> Drawing:
    """Draw each arm's mean over seeds, and the range of its seeds as a band."""
    ends = []
    with canvas(axis.name) as figure:
        axes = figure.subplots()
        heights = []
        for (arm, runs), (colour, dash) in zip(curves.items(), _styles(len(curves)), strict=True):
            place, lines = meet(runs)
            mean = lines.mean(axis=0)
            if len(runs) > 1:
                band = lines.min(axis=0), lines.max(axis=0)
                axes.fill_between(place, *band, color=colour, alpha=0.15, linewidth=0)
            axes.plot(place, mean, color=colour, linestyle=dash, label=arm)
            heights.append(lines.ravel())
            ends.append(f"{arm} {mean[-1]:.4f} at {place[-1]:,.0f}, lowest {mean.min():.4f}")
        _frame(axes, np.concatenate(heights))
        axes.set_xlabel(axis.label)
        if axis.logarithmic:
            axes.set_xscale("log")
        axes.xaxis.set_major_formatter("{x:,.0f}")
        axes.set_title(title)
        figure.legend(ncols=2, loc="outside upper left", fontsize=8.5)
        alt = f"{title} against {axis.label}, mean over seeds: " + "; ".join(ends)
        svg = to_svg(figure, axis.name, alt)
    return Drawing(axis.name, f"{title}, against {axis.label}".capitalize(), svg, alt, caption)


def meet(runs: Sequence[Curve]) -> tuple[Floats, Floats]:
    """Return places that all curves reach, and each curve there [seeds, places]."""
    first = runs[0][0]
    if all(np.array_equal(first, place) for place, _ in runs):
        return first, np.stack([height for _, height in runs])
    low, high = max(place[0] for place, _ in runs), min(place[-1] for place, _ in runs)
    grid = np.linspace(low, max(low, high), _GRID)
    return grid, np.stack([np.interp(grid, place, height) for place, height in runs])


def sensitivity(
    tried: Mapping[str, Sequence[tuple[float, float]]], chosen: Mapping[str, float], key: str, score: str
) -> Drawing:
    """Draw the tuning: every trial as a point, the mean of each value as a line, the chosen one circled."""
    said = []
    with canvas("tuning") as figure:
        axes = figure.subplots()
        for (arm, trials), (colour, dash) in zip(tried.items(), _styles(len(tried)), strict=True):
            value, loss = np.array(sorted(trials)).T
            places = np.unique(value)
            means = np.array([loss[value == place].mean() for place in places])
            axes.plot(value, loss, ".", color=colour, alpha=0.5, markersize=4)
            axes.plot(places, means, color=colour, linestyle=dash, label=arm)
            if arm in chosen and chosen[arm] in places:
                best = float(means[places == chosen[arm]][0])
                axes.plot(chosen[arm], best, "o", color=colour, markersize=9, fillstyle="none")
                said.append(f"{arm} lowest at {chosen[arm]:g} with {best:.4f}")
        _frame(axes, np.array([loss for trials in tried.values() for _, loss in trials]))
        axes.set_xscale("log")
        axes.set_xlabel(key)
        axes.xaxis.set_major_formatter(
            LogFormatterSciNotation(labelOnlyBase=False, minor_thresholds=(2, 0.4))
        )
        axes.set_title(score)
        figure.legend(ncols=2, loc="outside upper left", fontsize=8.5)
        alt = f"{score} against {key}: " + "; ".join(said)
        svg = to_svg(figure, "tuning", alt)
    caption = (
        "A point is one training, a line the mean over the tuning's seeds, a circle the value confirmed."
    )
    return Drawing("tuning", f"Sensitivity to {key}", svg, alt, caption)


@dataclass(frozen=True, slots=True, kw_only=True)
class Gap:
    """The differences of two arms, a unit each, with their mean and its interval."""

    name: str
    differences: Sequence[float]
    mean: float
    interval: Interval | None


def forest(gaps: Sequence[Gap], label: str, matters: float | None) -> Drawing:
    """Draw each contrast's differences, mean and interval; shaded is what is too small to matter."""
    with canvas("differences", (SIZE[0], 1.2 + 0.55 * len(gaps))) as figure:
        axes = figure.subplots()
        axes.axvline(0, color=MUTED, linewidth=0.8)
        if matters is not None:
            axes.axvspan(-matters, matters, color=GOOD, alpha=0.12, linewidth=0)
        for row, gap in enumerate(gaps):
            axes.plot(gap.differences, [row + 0.16] * len(gap.differences), ".", color=MUTED, markersize=6)
            if gap.interval is not None:
                axes.hlines(row - 0.12, gap.interval.low, gap.interval.high, color=MODEL, linewidth=2)
            axes.plot(gap.mean, row - 0.12, "o", color=MODEL, markersize=6.5)
        axes.set_yticks(range(len(gaps)), [gap.name for gap in gaps])
        axes.set_ylim(len(gaps) - 0.5, -0.5)
        axes.xaxis.set_major_locator(MaxNLocator(5))
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: minus(f"{value:+g}")))
        axes.set_xlabel(label)
        alt = f"{label}: " + "; ".join(
            f"{gap.name} {gap.mean:+.4g}"
            + (f", interval {gap.interval.low:+.4g} to {gap.interval.high:+.4g}" if gap.interval else "")
            for gap in gaps
        )
        svg = to_svg(figure, "differences", alt)
    caption = "Grey: the difference of each seed. Blue: their mean with its interval by Student's t."
    if matters is not None:
        caption += " Shaded: too small to matter, as the study said beforehand."
    return Drawing("differences", "Paired differences", svg, alt, caption)


@dataclass(frozen=True, slots=True, kw_only=True)
class Averaged:
    """One seed's training loss: of few windows, the same averaged over more, and that of more at once."""

    few: str  # name of the arm
    many: str
    raw: Curve
    averaged: Curve
    whole: Curve
    windows: int  # a point of `averaged` and of `whole` averages


def averaging(course: Averaged) -> Drawing:
    """Draw how much smoother a curve looks because each of its points averages more windows."""
    low, high = np.quantile(course.raw[1], [0.005, 0.995])
    alt = (
        f"Training loss of {course.few}, between {low:.2f} and {high:.2f} in 99 of 100 updates; averaged "
        f"over {course.windows} windows it lies between {course.averaged[1].min():.2f} and "
        f"{course.averaged[1].max():.2f}, that of {course.many} between {course.whole[1].min():.2f} and "
        f"{course.whole[1].max():.2f}."
    )
    with canvas("averaging") as figure:
        axes = figure.subplots()
        axes.plot(*course.raw, color=MUTED, alpha=0.45, linewidth=0.6, label=f"{course.few}, each update")
        axes.plot(
            *course.averaged, color=MODEL, linewidth=1.2, label=f"{course.few}, over {course.windows} windows"
        )
        axes.plot(*course.whole, "--", color=BASELINE, linewidth=1.2, label=f"{course.many}, each update")
        axes.set_ylim(low, high)
        axes.set_xlabel("windows seen")
        axes.xaxis.set_major_formatter("{x:,.0f}")
        axes.set_title("training loss")
        figure.legend(ncols=2, loc="outside upper left", fontsize=8.5)
        svg = to_svg(figure, "averaging", alt)
    caption = (
        "One seed. The two strong curves average the same windows into each point; what separates them from "
        "the grey one is averaging alone."
    )
    return Drawing("averaging", "How much of a smooth curve is averaging", svg, alt, caption)


def _styles(arms: int) -> list[tuple[str, str]]:
    return [STYLES[index % len(STYLES)] for index in range(arms)]


def _frame(axes: Axes, heights: Floats) -> None:
    heights = heights[np.isfinite(heights)]
    low, high = float(heights.min()), float(np.quantile(heights, _HIGHEST))
    pad = max(0.08 * (high - low), 1e-6)
    if heights.max() > high + 3 * (high - low):
        axes.set_ylim(low - pad, high + 2 * pad)
    axes.yaxis.set_major_locator(MaxNLocator(6))
