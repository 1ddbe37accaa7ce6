"""`candlecast plan --measure`: what an update really holds on a GPU, to stand beside the prediction."""

from dataclasses import dataclass

import torch

from candlecast.errors import TrainingError
from candlecast.training.memory_plan import MemoryPlan, format_size
from candlecast.training.precision import Name
from candlecast.training.rehearsal import Rehearsal, Workload


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """Bytes at the peak of an update."""

    allocated: int  # held by tensors: what is predicted
    reserved: int  # taken from the device by the allocator; the device's context comes on top


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """A prediction and its measurement."""

    precision: Name
    checkpoint_activations: bool
    micro_batch: int
    predicted: float  # bytes, without the copies of the weights that one update does not make
    measured: Measured


def measure(
    workload: Workload, precision: Name, micro_batch: int, effective_batch: int, device: torch.device
) -> Measured:
    """Return the peak of the second update of a throw-away model; the generators are left as they were.

    Raises
    ------
    TrainingError
        The device is not a GPU, which alone keeps such a count.
    """
    if device.type != "cuda" or not torch.cuda.is_available():
        raise TrainingError(
            f"memory can be measured on a CUDA device only, and there is none at {device}; "
            "leave --measure out"
        )
    with torch.random.fork_rng([device]):
        rehearsal = Rehearsal(workload, precision, effective_batch, device)
        rehearsal.update(micro_batch)  # kernels choose and keep their workspaces in the first
        torch.cuda.synchronize(device)
        torch.cuda.reset_peak_memory_stats(device)
        rehearsal.update(micro_batch)
        torch.cuda.synchronize(device)
    return Measured(
        allocated=torch.cuda.max_memory_allocated(device), reserved=torch.cuda.max_memory_reserved(device)
    )


def measure_plan(
    workload: Workload, plan: MemoryPlan, device: torch.device | str = "cuda"
) -> list[Comparison]:
    """Return the prediction and the measurement of every row that fits; raise as `measure` does."""
    device = torch.device(device)
    comparisons = []
    for row in plan.rows:
        if not row.fits:
            continue
        same = workload.checkpointing(row.checkpoint_activations)
        measured = measure(same, row.precision, row.micro_batch, plan.effective_batch, device)
        comparisons.append(
            Comparison(
                precision=row.precision,
                checkpoint_activations=row.checkpoint_activations,
                micro_batch=row.micro_batch,
                predicted=row.memory.total - row.memory.copies,
                measured=measured,
            )
        )
        torch.cuda.empty_cache()
    return comparisons


def comparison_table(comparisons: list[Comparison]) -> str:
    """Return predictions and measurements as lines of text."""
    header = f"{'precision':>9} {'recompute':>9} {'micro':>6} {'predicted':>12}"
    lines = [f"{header} {'allocated':>12} ratio {'reserved':>12}"]
    lines += [
        f"{row.precision:>9} {'on' if row.checkpoint_activations else 'off':>9} {row.micro_batch:>6} "
        f"{format_size(row.predicted):>12} {format_size(row.measured.allocated):>12} "
        f"{row.measured.allocated / row.predicted:>5.2f} {format_size(row.measured.reserved):>12}"
        for row in comparisons
    ]
    return "\n".join(lines)
