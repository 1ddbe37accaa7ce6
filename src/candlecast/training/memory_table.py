"""A memory plan as text, for a terminal and for the error that says nothing fits."""

from candlecast.training.memory_plan import Choice, MemoryPlan, PlanRow, format_size

HEADER = (
    "precision", "recompute", "micro", "steps",
    "weights", "gradients", "optimizer", "activations", "inputs", "peak", "",
)  # fmt: skip


def plan_table(plan: MemoryPlan) -> str:
    """Return the table of a plan, what to choose, and what the figures leave out."""
    best = {(choice.precision, choice.checkpoint_activations): choice.micro_batch for choice in plan.choices}
    lines = [HEADER, *(cells(row, best[row.precision, row.checkpoint_activations]) for row in plan.rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(HEADER))]
    table = [
        "  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    ]
    return "\n".join(
        [
            f"Effective batch {plan.effective_batch}, budget {format_size(plan.budget)}, of which "
            f"{format_size(plan.usable)} may be used (margin {plan.margin:.0%}).",
            "",
            *table,
            "",
            *(sentence(choice, plan.effective_batch) for choice in plan.choices),
            f"More than one step costs at most one gradient copy, {format_size(plan.gradient_copy)}.",
            "Not counted, so leave the margin: kernels' workspaces, the allocator's rounding and "
            "fragmentation, the device's context.",
        ]
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


def sentence(choice: Choice, effective_batch: int) -> str:
    """Return what to set, in words."""
    recompute = "on" if choice.checkpoint_activations else "off"
    start = f"{choice.precision}, activation checkpointing {recompute}: "
    if choice.steps == 0:
        return start + "not even one window fits; take a smaller model or a shorter window."
    if choice.steps == 1:
        return start + f"all {effective_batch} windows fit at once; accumulation has nothing to add."
    return (
        start
        + f"{choice.largest} windows fit at once. Set accum.micro_batch {choice.micro_batch}, accum.steps "
        f"null, accum.effective_batch {effective_batch}: {choice.steps} steps."
    )
