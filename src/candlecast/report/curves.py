"""The figures that run along time or training: rolling accuracy, capital, gradient noise."""

from typing import Final

import numpy as np
import polars as pl
from matplotlib.ticker import LogFormatterSciNotation, MaxNLocator, PercentFormatter

from candlecast.evaluation.assess import Economics
from candlecast.evaluation.breakdown import CALLED_UP, UP
from candlecast.report.drawing import BASELINE, MODEL, MUTED, Drawing, canvas, date_axis, to_svg
from candlecast.report.scores import label
from candlecast.report.sentences import distinct_paths

ROLLING_DAYS: Final = 63  # a quarter; a third of a shorter span


def rolling_accuracy(frame: pl.DataFrame, baseline: pl.DataFrame) -> Drawing:
    """Draw the network's and one baseline's accuracy over the last weeks, day by day."""
    name = label(str(baseline["model"][0]))
    series = {who: _rolling(rows) for who, rows in (("Candlecast", frame), (name, baseline))}
    length = _rolling_days(series["Candlecast"].height)
    ends = {who: rows["accuracy"].drop_nulls() for who, rows in series.items()}
    alt = f"Directional accuracy over {length} days at a time: " + "; ".join(
        f"{who} between {min(values):.0%} and {max(values):.0%}" for who, values in ends.items()
    )
    with canvas("rolling") as figure:
        axes = figure.subplots()
        axes.axhline(0.5, color=MUTED, linewidth=0.8)
        axes.plot(series[name]["date"], series[name]["accuracy"], color=BASELINE, linewidth=1.1, label=name)
        axes.plot(
            series["Candlecast"]["date"], series["Candlecast"]["accuracy"], color=MODEL, label="Candlecast"
        )
        axes.yaxis.set_major_formatter(PercentFormatter(1, decimals=0))
        axes.set_title(f"directional accuracy, last {length} days")
        figure.legend(ncols=2, loc="outside upper left", fontsize=8.5)
        date_axis(axes)
        svg = to_svg(figure, "rolling", alt)
    caption = "Neighbouring points share most of their days: a smooth line is no sign of stability."
    if series["Candlecast"].equals(series[name]):
        caption += " Both called the same, so one line covers the other."
    return Drawing("rolling", "Accuracy through time", svg, alt, caption)


def capital_curves(economics: Economics, shown_bp: float) -> Drawing:
    """Draw each strategy's compounded capital before costs, and the first one's after costs of `shown_bp`."""
    looks = {"long/short": (MODEL, "-"), "long/flat": (MODEL, "--"), "always long": (BASELINE, ":")}
    followed = distinct_paths(economics)
    finals = {}
    with canvas("capital") as figure:
        axes = figure.subplots()
        axes.axhline(1, color=MUTED, linewidth=0.8)
        for name, path in followed:
            capital = np.cumprod(1 + path.gross)
            finals[f"{name} before costs"] = capital[-1]
            colour, style = looks[path.strategy]
            axes.plot(path.dates, capital, style, color=colour, label=name)
        first = economics.paths[0]
        net = np.cumprod(1 + first.net(shown_bp))
        finals[f"{first.strategy} at {shown_bp:g} bp"] = net[-1]
        axes.plot(
            first.dates, net, color=MUTED, linewidth=1, zorder=1, label=f"{first.strategy}, {shown_bp:g} bp"
        )
        axes.set_title("capital, 1 at the start")
        axes.yaxis.set_major_locator(MaxNLocator(6))
        figure.legend(ncols=2, loc="outside upper left", fontsize=8.5)
        date_axis(axes)
        alt = "Compounded capital, 1 at the start. At the end: " + ", ".join(
            f"{end} {value:.2f}" for end, value in finals.items()
        )
        svg = to_svg(figure, "capital", alt)
    caption = "Before costs unless said. One path of history; another would look different."
    if len(followed) < len(economics.paths):
        caption += " Strategies that took the same positions every day share a line."
    return Drawing("capital", "Capital", svg, alt, caption)


def noise_scale(history: pl.DataFrame) -> Drawing | None:
    """Draw the gradient noise scale beside the effective batch, or return None where it was not measured."""
    if "noise_scale" not in history.columns:
        return None
    measured = history.filter(pl.col("noise_scale").is_not_null() & pl.col("noise_low").is_not_null())
    if measured.is_empty():
        return None
    seen_each = np.diff(history["samples_seen"].to_numpy(), prepend=0)
    batch = int(np.median(seen_each))
    last = measured.row(-1, named=True)
    alt = (
        f"Gradient noise scale against windows seen, at the end {last['noise_scale']:,.0f} windows, beside "
        f"an effective batch of {batch:,}."
    )
    with canvas("noise") as figure:
        axes = figure.subplots()
        seen = measured["samples_seen"].to_numpy()
        low, high = (measured[name].to_numpy() for name in ("noise_low", "noise_high"))
        top = 3 * max(float(measured["noise_scale"].to_numpy().max()), batch)
        unbounded = not np.isfinite(high).all()
        high = np.where(np.isfinite(high), high, top)
        axes.fill_between(seen, low, np.maximum(low, high), color=MODEL, alpha=0.15, linewidth=0)
        axes.plot(seen, measured["noise_scale"], color=MODEL, label="noise scale, with its 90% interval")
        axes.axhline(batch, color=BASELINE, linestyle="--", linewidth=1, label="effective batch")
        axes.set_yscale("log")
        axes.set_ylim(top=top if unbounded else None)
        axes.yaxis.set_major_formatter(
            LogFormatterSciNotation(labelOnlyBase=False, minor_thresholds=(2, 0.5))
        )
        axes.xaxis.set_major_formatter("{x:,.0f}")
        axes.set_xlabel("windows seen")
        axes.set_title("windows")
        figure.legend(ncols=2, loc="outside upper left", fontsize=8.5)
        svg = to_svg(figure, "noise", alt)
    caption = (
        "Below the noise scale a larger batch takes cleaner steps almost in proportion; far above it, "
        "windows are spent for little."
    )
    if unbounded:
        caption += " Where the band reaches the upper edge it has no upper bound."
    return Drawing("noise", "Gradient noise and the effective batch", svg, alt, caption)


def _rolling(frame: pl.DataFrame) -> pl.DataFrame:
    daily = frame.group_by("date").agg((UP == CALLED_UP).mean().alias("hits")).sort("date")
    mean = pl.col("hits").rolling_mean(_rolling_days(daily.height))
    return daily.select("date", mean.alias("accuracy"))


def _rolling_days(days: int) -> int:
    return max(min(ROLLING_DAYS, days // 3), 1)
