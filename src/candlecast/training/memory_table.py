"""A memory plan as text, for a terminal and for the error that says nothing fits."""

from candlecast.training.memory_plan import Choice, MemoryPlan, PlanRow, format_size

HEADER = (
    "precision", "recompute", "micro", "steps",
    "weights", "gradients", "optimizer", "activations", "inputs", "peak", "",
)  # fmt: skip


def plan_table(plan: MemoryPlan) -> str:
    """Return what to set, the table behind it, and what the figures leave out."""
    best = {(choice.precision, choice.checkpoint_activations): choice.micro_batch for choice in plan.choices}
    lines = [HEADER, *(cells(row, best[row.precision, row.checkpoint_activations]) for row in plan.rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(HEADER))]
    table = [
        "  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    ]
    return "\n".join(
        [
            *answers(plan),
            "",
            f"Effective batch {plan.effective_batch}, budget {format_size(plan.budget)}, of which "
            f"{format_size(plan.usable)} may be used (margin {plan.margin:.0%}).",
            "",
            *table,
            "",
            f"More than one step costs at most one gradient copy, {format_size(plan.gradient_copy)}.",
            "Not counted, so leave the margin: kernels' workspaces, the allocator's rounding and "
            "fragmentation, the device's context.",
        ]
    )


def answers(plan: MemoryPlan) -> list[str]:
    """Return one line a precision, all but the first as `also`.

    Activations are computed twice only where nothing fits otherwise.
    """
    by_precision: dict[str, list[Choice]] = {}
    for choice in plan.choices:
        by_precision.setdefault(choice.precision, []).append(choice)
    lines = [
        answer(plan, min(choices, key=lambda choice: (choice.steps == 0, choice.checkpoint_activations)))
        for choices in by_precision.values()
    ]
    return [*lines[:1], *(f"also {line}" for line in lines[1:])]


def answer(plan: MemoryPlan, choice: Choice) -> str:
    """Return what to set, in words."""
    whole = plan.effective_batch
    switch = " with model.checkpoint_activations true" if choice.checkpoint_activations else ""
    if choice.steps == 0:
        return f"{choice.precision}: not even one window fits; take a smaller model or a shorter window."
    (peak,) = (
        row.memory.total
        for row in plan.rows
        if (row.precision, row.checkpoint_activations, row.micro_batch)
        == (choice.precision, choice.checkpoint_activations, choice.micro_batch)
    )
    if choice.steps == 1:
        return (
            f"{choice.precision}{switch}: all {whole} windows fit at once, peak {format_size(peak)}; "
            "accumulation has nothing to add."
        )
    return (
        f"{choice.precision}{switch}: set accum.micro_batch {choice.micro_batch}, accum.steps null, "
        f"accum.effective_batch {whole}: {choice.steps} steps an update, peak {format_size(peak)}; at most "
        f"{choice.largest} windows fit at once."
    )


def cells(row: PlanRow, best: int) -> tuple[str, ...]:
    """Return one line of the table; the chosen micro-batch carries an arrow."""
    memory = row.memory
    parts = (memory.parameters + memory.copies, memory.gradients, memory.optimizer, memory.activations)
    verdict = "too large" if not row.fits else "<- use" if row.micro_batch == best else "fits"
    return (
        row.precision,
        "on" if row.checkpoint_activations else "off",
        str(row.micro_batch),
        str(row.steps),
        *(format_size(part) for part in (*parts, memory.inputs, memory.total)),
        verdict,
    )
