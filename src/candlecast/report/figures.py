"""The figures of the report; each takes frames and returns a `Drawing`."""

import datetime
from collections.abc import Mapping
from typing import Final

import numpy as np
import polars as pl
from matplotlib.patches import Rectangle
from matplotlib.ticker import MaxNLocator, PercentFormatter

from candlecast.evaluation.breakdown import (
    accuracy_by_ticker,
    accuracy_by_year,
    confusion,
    reliability,
    return_deciles,
)
from candlecast.report.drawing import (
    BASELINE,
    INK,
    MODEL,
    MUTED,
    PAPER,
    SIZE,
    Drawing,
    canvas,
    date_axis,
    to_svg,
)

MAX_POINTS: Final = 800  # windows in a scatter; more only make the page heavy and the cloud solid


def split_timeline(boundaries: Mapping[str, str]) -> Drawing:
    """Draw the three spans of window ends on one time line; `boundaries` are `Split.boundaries`."""
    parts = ("train", "validation", "test")
    spans = {
        part: tuple(datetime.date.fromisoformat(boundaries[f"{part}_{edge}"]) for edge in ("start", "end"))
        for part in parts
    }
    alt = "Time line of window ends: " + ", ".join(
        f"{part} {first} to {last}" for part, (first, last) in spans.items()
    )
    with canvas("split", (SIZE[0], 1.3)) as figure:
        axes = figure.subplots()
        for colour, (part, (first, last)) in zip((MUTED, BASELINE, MODEL), spans.items(), strict=True):
            left, width = first.toordinal(), (last - first).days
            offset = datetime.date(1970, 1, 1).toordinal()
            axes.broken_barh([(left - offset, width)], (0, 1), color=colour, alpha=0.85)
            axes.annotate(part, (left - offset + width / 2, 1.12), ha="center", va="bottom", color=INK)
        axes.set_ylim(0, 1.7)
        axes.set_yticks([])
        axes.grid(False)
        axes.spines["left"].set_visible(False)
        date_axis(axes)
        svg = to_svg(figure, "split", alt)
    caption = "Window ends of each part. Those whose outcome would reach into the next part are left out."
    return Drawing("split", "The split in time", svg, alt, caption)


def training_curves(history: pl.DataFrame, validation: pl.DataFrame) -> Drawing:
    """Draw loss, learning rate and gradient norm against windows seen."""
    best = validation.filter("best").row(-1, named=True)
    alt = (
        "Training and validation loss, learning rate and gradient norm against windows seen. "
        f"Lowest validation loss {best['loss']:.4f} at update {best['update']}, "
        f"after {best['samples_seen']:,} windows."
    )
    with canvas("training", (SIZE[0], 4.6)) as figure:
        losses, rate, norm = figure.subplots(3, 1, sharex=True, height_ratios=[2.2, 1, 1])
        seen = history["samples_seen"]
        losses.plot(
            seen, history["loss"], color=MUTED, alpha=0.55, linewidth=0.9, label="training, each update"
        )
        losses.plot(
            validation["samples_seen"],
            validation["loss"],
            color=MODEL,
            marker="o",
            markersize=3,
            label="validation",
        )
        losses.plot(
            best["samples_seen"], best["loss"], "o", color=MODEL, markersize=7, fillstyle="none", label="kept"
        )
        losses.set_title("loss")
        figure.legend(ncols=3, loc="outside upper left", fontsize=8.5)
        low, high = np.quantile(history["loss"].to_numpy(), [0.0, 0.99])
        losses.set_ylim(
            min(low, best["loss"]) * 0.98, max(high, float(validation["loss"].to_numpy().max())) * 1.12
        )
        rate.plot(seen, history["lr"], color=MUTED)
        rate.set_title("learning rate")
        norm.plot(seen, history["grad_norm"], color=MUTED, linewidth=0.9)
        norm.set_title("gradient norm before clipping")
        norm.set_xlabel("windows seen")
        for axes in (losses, rate, norm):
            axes.yaxis.set_major_locator(MaxNLocator(4))
        norm.xaxis.set_major_formatter("{x:,.0f}")
        svg = to_svg(figure, "training", alt)
    caption = (
        "A training point averages one update's windows; validation is the same fixed windows each time. "
        "The circled checkpoint is the one evaluated."
    )
    return Drawing("training", "Loss, learning rate and gradient norm", svg, alt, caption)


def predicted_and_realised(frame: pl.DataFrame) -> Drawing:
    """Draw forecast against realised returns: a cloud of windows, and the means of ten equal groups."""
    deciles = return_deciles(frame)
    rows = np.unique(np.linspace(0, frame.height - 1, min(frame.height, MAX_POINTS)).astype(int))
    cloud = frame[rows]
    correlation = (
        0.0
        if deciles.height == 1
        else float(np.corrcoef(frame["forecast_return"], frame["realised_return"])[0, 1])
    )
    alt = (
        f"Scatter of forecast against realised log-returns of {frame.height:,} windows; their correlation is "
        f"{correlation:+.3f}. Means of ten equal groups by forecast are drawn over it."
    )
    with canvas("scatter") as figure:
        axes = figure.subplots()
        axes.scatter(
            cloud["forecast_return"], cloud["realised_return"], s=6, color=MUTED, alpha=0.3, linewidths=0
        )
        axes.plot(
            deciles["forecast_return"],
            deciles["realised_return"],
            "o-",
            color=MODEL,
            markersize=4.5,
            label="mean of a tenth",
        )
        low, high = float(deciles["forecast_return"][0]), float(deciles["forecast_return"][-1])
        axes.axline((0, 0), slope=1, color=BASELINE, linestyle="--", linewidth=1, label="a perfect forecast")
        pad = max((high - low) * 0.6, 1e-4)
        axes.set_xlim(low - pad, high + pad)
        reach = float(np.quantile(np.abs(cloud["realised_return"].to_numpy()), 0.98))
        axes.set_ylim(-reach, reach)
        axes.xaxis.set_major_locator(MaxNLocator(6))
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_major_formatter(PercentFormatter(1))
        axes.set_xlabel("forecast log-return")
        axes.set_title("realised log-return")
        figure.legend(ncols=2, loc="outside upper left", fontsize=8.5)
        svg = to_svg(figure, "scatter", alt)
    caption = "The scales differ: forecasts that hedge are far narrower than what then happens."
    return Drawing("scatter", "Forecast against realised", svg, alt, caption)


def reliability_diagram(frame: pl.DataFrame, bins: int) -> Drawing:
    """Draw the share of ups against the stated probability, with a 95 % band were each window independent."""
    table = reliability(frame, bins)
    stated, share = table["forecast_probability"].to_numpy(), table["realised_share"].to_numpy()
    error = 1.96 * np.sqrt(stated * (1 - stated) / table["windows"].to_numpy())
    alt = "Share of windows that went up against the stated probability: " + ", ".join(
        f"{p:.0%} stated, {s:.0%} realised" for p, s in zip(stated, share, strict=True)
    )
    with canvas("reliability") as figure:
        axes = figure.subplots()
        axes.fill_between(stated, stated - error, stated + error, color=BASELINE, alpha=0.18, linewidth=0)
        axes.plot(stated, stated, color=BASELINE, linestyle="--", linewidth=1, label="a calibrated forecast")
        axes.plot(stated, share, "o-", color=MODEL, markersize=4.5, label="realised")
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_major_locator(MaxNLocator(6, steps=[1, 2, 5, 10]))
            axis.set_major_formatter(PercentFormatter(1))
        axes.set_xlabel("stated probability of going up")
        axes.set_title("share that went up")
        figure.legend(ncols=2, loc="outside upper left", fontsize=8.5)
        svg = to_svg(figure, "reliability", alt)
    caption = (
        f"{table.height} groups of windows. The band is where a calibrated forecast would fall 19 times "
        "in 20 were windows independent; they overlap, so in truth the band is wider."
    )
    return Drawing("reliability", "Is a stated probability to be believed?", svg, alt, caption)


def confusion_matrix(frame: pl.DataFrame) -> Drawing:
    """Draw the four counts of called against realised direction, shaded by share."""
    table = confusion(frame)
    total = frame.height
    cells = {(row["realised"], row["forecast"]): int(row["windows"]) for row in table.iter_rows(named=True)}
    alt = "Confusion matrix: " + ", ".join(
        f"{count:,} called {called} went {realised}" for (realised, called), count in cells.items()
    )
    with canvas("confusion", (SIZE[0], 2.7)) as figure:
        axes = figure.subplots()
        sides = ("down", "up")
        for x, called in enumerate(sides):
            for y, realised in enumerate(sides):
                count = cells[realised, called]
                colour = MODEL if called == realised else MUTED
                axes.add_patch(
                    Rectangle((x, y), 0.97, 0.95, color=colour, alpha=0.08 + 0.6 * count / total, linewidth=0)
                )
                axes.text(
                    x + 0.48,
                    y + 0.47,
                    f"{count:,}\n{count / total:.1%}",
                    ha="center",
                    va="center",
                    color=INK,
                    fontsize=11,
                )
        axes.set(xlim=(0, 2), ylim=(0, 2))
        axes.set_xticks([0.48, 1.48], ["called down", "called up"])
        axes.set_yticks([0.47, 1.47], ["went down", "went up"])
        axes.tick_params(length=0)
        axes.grid(False)
        axes.spines[:].set_visible(False)
        svg = to_svg(figure, "confusion", alt)
    return Drawing(
        "confusion",
        "Called and realised direction",
        svg,
        alt,
        "Blue was called right, grey wrong; the stronger the colour, the more often.",
    )


def accuracy_bars(frame: pl.DataFrame, by: str) -> Drawing:
    """Draw directional accuracy by "year" or "ticker" beside always calling up."""
    table = accuracy_by_year(frame) if by == "year" else accuracy_by_ticker(frame)
    labels = [str(value) for value in table[by]]
    alt = f"Directional accuracy by {by}: " + ", ".join(
        f"{label} {hit:.1%} against {up:.1%} for always up"
        for label, hit, up in zip(
            labels, table["directional_accuracy"], table["always_up_accuracy"], strict=True
        )
    )
    name = f"accuracy-{by}"
    with canvas(name, (SIZE[0], 1.1 + 0.36 * len(labels))) as figure:
        axes = figure.subplots()
        places = np.arange(len(labels))
        axes.axvline(0.5, color=MUTED, linewidth=0.8)
        axes.hlines(
            places, table["always_up_accuracy"], table["directional_accuracy"], color=MUTED, linewidth=1.4
        )
        axes.plot(
            table["always_up_accuracy"],
            places,
            "D",
            color=BASELINE,
            markerfacecolor=PAPER,
            markersize=5.5,
            label="Always up",
        )
        axes.plot(table["directional_accuracy"], places, "o", color=MODEL, markersize=6.5, label="Candlecast")
        axes.set_yticks(places, labels)
        axes.set_ylim(len(labels) - 0.4, -0.6)
        axes.xaxis.set_major_formatter(PercentFormatter(1, decimals=0))
        axes.set_xlabel("directional accuracy")
        figure.legend(ncols=2, loc="outside upper left", fontsize=8.5)
        svg = to_svg(figure, name, alt)
    same = table["directional_accuracy"].equals(table["always_up_accuracy"])
    counts = ", ".join(f"{label}: {count:,}" for label, count in zip(labels, table["windows"], strict=True))
    both = " Candlecast called up every time, so one mark covers the other." if same else ""
    caption = f"Windows in each: {counts}.{both}"
    return Drawing(name, f"Accuracy by {by}", svg, alt, caption)
