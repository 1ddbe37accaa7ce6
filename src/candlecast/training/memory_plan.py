"""Which micro-batch fits a memory budget, and how many steps make the effective batch of it.

An effective batch of E windows in micro-batches of m takes ceil(E / m) steps, the last of them short where m
does not divide E. More steps cost no memory beyond one copy of the gradient; only m does.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from candlecast.errors import ParamsError
from candlecast.training.memory import MemoryModel, MemorySplit, predict
from candlecast.training.precision import Name
from candlecast.training.rehearsal import Workload

MARGIN = 0.15  # of the budget, for what the prediction does not see: workspaces, rounding, fragmentation
KIB, MIB, GIB = 2**10, 2**20, 2**30

PRECISIONS: tuple[Name, ...] = ("fp32", "bf16")  # fp16 holds what bf16 holds

_UNITS = {
    "": 1, "B": 1, "KIB": KIB, "MIB": MIB, "GIB": GIB, "TIB": 2**40, "KB": 10**3, "MB": 10**6, "GB": 10**9,
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """One way to train, and what it holds at any micro-batch."""

    precision: Name
    checkpoint_activations: bool
    memory: MemoryModel


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanRow:
    """A micro-batch in a setting."""

    precision: Name
    checkpoint_activations: bool
    micro_batch: int
    steps: int  # micro-batches in an update
    memory: MemorySplit
    fits: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """What a setting should use."""

    precision: Name
    checkpoint_activations: bool
    largest: int  # windows that fit at once, at most the effective batch; 0: not even one
    micro_batch: int  # the smallest that takes as few steps as the largest; 0: nothing fits
    steps: int  # 0: nothing fits


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryPlan:
    """All settings at a fixed effective batch."""

    budget: float  # bytes
    margin: float  # share of the budget left free
    effective_batch: int
    settings: tuple[Setting, ...]
    rows: tuple[PlanRow, ...]  # by setting, then micro-batch
    choices: tuple[Choice, ...]  # one a setting

    @property
    def usable(self) -> float:
        """Bytes that a predicted peak may reach."""
        return self.budget * (1 - self.margin)

    @property
    def gradient_copy(self) -> float:
        """Bytes that more than one step costs at most."""
        return max(setting.memory.fixed.gradients for setting in self.settings)


def plan_memory(
    workload: Workload,
    budget: float,
    effective_batch: int,
    precisions: Sequence[Name] = PRECISIONS,
    checkpointing: Sequence[bool] = (False, True),
    margin: float = MARGIN,
) -> MemoryPlan:
    """Return what every power of two up to the effective batch, and the largest that fits, would hold."""
    settings = tuple(
        Setting(
            precision=precision,
            checkpoint_activations=switch,
            memory=predict(workload.checkpointing(switch), precision),
        )
        for precision in precisions
        for switch in checkpointing
    )
    return plan_settings(settings, budget, effective_batch, margin)


def plan_settings(
    settings: tuple[Setting, ...], budget: float, effective_batch: int, margin: float = MARGIN
) -> MemoryPlan:
    """Return the plan for settings whose memory is known; no probe runs."""
    usable = budget * (1 - margin)
    choices = tuple(choose(setting, usable, effective_batch) for setting in settings)
    powers = {2**power for power in range(effective_batch.bit_length())}
    rows = tuple(
        plan_row(setting, micro_batch, effective_batch, usable)
        for setting, choice in zip(settings, choices, strict=True)
        for micro_batch in sorted(powers | {effective_batch, choice.micro_batch} - {0})
    )
    return MemoryPlan(
        budget=budget,
        margin=margin,
        effective_batch=effective_batch,
        settings=settings,
        rows=rows,
        choices=choices,
    )


def choose(setting: Setting, usable: float, effective_batch: int) -> Choice:
    """Return the micro-batch with the fewest steps, and of those the one that holds least."""
    largest = setting.memory.largest_micro_batch(usable, effective_batch)
    steps = 0 if largest == 0 else -(-effective_batch // largest)
    return Choice(
        precision=setting.precision,
        checkpoint_activations=setting.checkpoint_activations,
        largest=largest,
        micro_batch=0 if steps == 0 else -(-effective_batch // steps),
        steps=steps,
    )


def plan_row(setting: Setting, micro_batch: int, effective_batch: int, usable: float) -> PlanRow:
    """Return one line of the table."""
    memory = setting.memory.peak(micro_batch, effective_batch)
    return PlanRow(
        precision=setting.precision,
        checkpoint_activations=setting.checkpoint_activations,
        micro_batch=micro_batch,
        steps=-(-effective_batch // micro_batch),
        memory=memory,
        fits=memory.total <= usable,
    )


def parse_size(text: str) -> int:
    """Return the bytes in a size such as 24GiB, 512 MiB or 8GB, or raise `ParamsError`."""
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([A-Za-z]*)\s*", text)
    size = int(float(match[1]) * _UNITS.get(match[2].upper(), 0)) if match else 0
    if size <= 0:
        raise ParamsError(f"budget: {text!r} is no size in memory; give one such as 24GiB or 512MiB")
    return size


def format_size(size: float) -> str:
    """Return a size in the unit that leaves one to three digits before the point."""
    for unit, name in ((GIB, "GiB"), (MIB, "MiB"), (KIB, "KiB")):
        if size >= unit:
            return f"{size / unit:.1f} {name}"
    return f"{size:.0f} B"
