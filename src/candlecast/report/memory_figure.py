"""The article's first claim as a figure: memory follows the micro-batch, not the effective batch."""

from collections.abc import Sequence
from typing import Final

from candlecast.report.drawing import BAD, BASELINE, GOOD, INK, MODEL, Drawing, canvas, to_svg
from candlecast.training.memory_plan import GIB, MIB, MemoryPlan, PlanRow, format_size

LINES: Final = {
    ("fp32", False): (MODEL, "-"),
    ("fp32", True): (MODEL, "--"),
    ("bf16", False): (BASELINE, "-"),
    ("bf16", True): (BASELINE, "--"),
    ("fp16", False): (GOOD, "-"),
    ("fp16", True): (GOOD, "--"),
}


def memory_figure(plan: MemoryPlan) -> Drawing:
    """Draw the predicted peak against the micro-batch, at the plan's effective batch."""
    effective = plan.effective_batch
    unit, unit_name = (GIB, "GiB") if max(row.memory.total for row in plan.rows) >= GIB else (MIB, "MiB")
    with canvas("memory") as figure:
        axes = figure.subplots()
        for (precision, recompute), style in LINES.items():
            rows = rows_of(plan, precision, recompute)
            if rows:
                axes.plot(
                    [row.micro_batch for row in rows],
                    [row.memory.total / unit for row in rows],
                    color=style[0],
                    linestyle=style[1],
                    marker="o",
                    markersize=3,
                    label=f"{precision}, recomputed activations" if recompute else precision,
                )
        if plan.usable <= 1.5 * max(row.memory.total for row in plan.rows):
            axes.axhline(plan.usable / unit, color=BAD, linewidth=1.0)
            axes.annotate("budget less margin", (1, plan.usable / unit), va="bottom", color=INK)
        axes.set_xscale("log", base=2)
        axes.set_yscale("log", base=2)
        axes.set_xlabel(f"micro-batch, windows (steps = {effective} / micro-batch)")
        axes.set_ylabel(f"predicted peak, {unit_name}")
        axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
        axes.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
        axes.legend()
        alt = describe(plan)
        svg = to_svg(figure, "memory", alt)
    caption = (
        f"The same {effective} windows an update throughout. What accumulation itself costs is one copy of "
        f"the gradient, {format_size(plan.gradient_copy)}; everything else it saves."
    )
    return Drawing("memory", "Memory against the micro-batch", svg, alt, caption)


def rows_of(plan: MemoryPlan, precision: str, checkpoint_activations: bool) -> Sequence[PlanRow]:
    """Return the rows of one setting, smallest micro-batch first."""
    return [
        row
        for row in plan.rows
        if row.precision == precision and row.checkpoint_activations == checkpoint_activations
    ]


def describe(plan: MemoryPlan) -> str:
    """Say in a sentence what the figure shows."""
    first = plan.settings[0]
    rows = rows_of(plan, first.precision, first.checkpoint_activations)
    small, large = rows[0], rows[-1]
    return (
        f"Predicted peak memory against the micro-batch at an effective batch of {plan.effective_batch}: in "
        f"{first.precision} from {format_size(small.memory.total)} at {small.micro_batch} "
        f"to {format_size(large.memory.total)} at {large.micro_batch} windows."
    )
