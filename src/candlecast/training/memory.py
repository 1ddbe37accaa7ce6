"""Predict what a training holds in memory, without a GPU and without holding it.

A probe runs an update of the real training code on fake tensors, which have shapes and no data, while torch's
`MemTracker` follows every storage. The peak is affine in the micro-batch, so two probes predict them all.

What this view cannot see: the kernels' workspaces, the allocator's rounding and fragmentation, the device's
context. The fake tensors are the CPU's, so the kernels are assumed to hold what the CPU's do: attention is
fused, without its score matrix, and autocast follows the CPU's list of operations.
"""

from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, fields, replace

from torch._subclasses.fake_tensor import FakeTensorMode

from candlecast.training.precision import Name
from candlecast.training.rehearsal import Rehearsal, Workload, tensors

# So large that activations make the peak, not the optimiser's temporaries; a fake window costs nothing.
PROBED = (256, 512)


@dataclass(frozen=True, slots=True, kw_only=True)
class MemorySplit:
    """Bytes held at the peak, by what they are for."""

    parameters: float  # with buffers
    gradients: float
    optimizer: float
    activations: float  # with the backward pass's temporaries
    inputs: float  # the effective batch
    copies: float  # of the weights: the best so far, and the moving average

    @property
    def total(self) -> float:
        """Bytes in all."""
        return float(sum(getattr(self, field.name) for field in fields(self)))

    def __add__(self, other: "MemorySplit") -> "MemorySplit":
        return MemorySplit(**{f.name: getattr(self, f.name) + getattr(other, f.name) for f in fields(self)})

    def __mul__(self, factor: float) -> "MemorySplit":
        return MemorySplit(**{field.name: getattr(self, field.name) * factor for field in fields(self)})


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryModel:
    """The peak as a function of the micro-batch and the effective batch."""

    fixed: MemorySplit  # the affine part at no windows
    per_window: MemorySplit  # of the micro-batch
    floor: MemorySplit  # the peak at a micro-batch of 1: in a large model, the optimiser's step
    input_bytes: int  # of a window; the whole effective batch is held

    def peak(self, micro_batch: int, effective_batch: int) -> MemorySplit:
        """Return the predicted peak, with a gradient held throughout, as from the second micro-batch on."""
        held = max(self.fixed + self.per_window * micro_batch, self.floor, key=lambda split: split.total)
        return replace(held, inputs=effective_batch * self.input_bytes)

    def largest_micro_batch(self, budget: float, effective_batch: int) -> int:
        """Return the most windows, up to the effective batch, whose peak is within `budget` bytes, or 0."""
        fits, too_large = 0, effective_batch + 1
        while too_large - fits > 1:
            middle = (fits + too_large) // 2
            if self.peak(middle, effective_batch).total <= budget:
                fits = middle
            else:
                too_large = middle
        return fits


def predict(workload: Workload, precision: Name) -> MemoryModel:
    """Return the memory of every micro-batch, from three probes."""
    near, far, one = (probe(workload, precision, micro_batch) for micro_batch in (*PROBED, 1))
    # Inputs belong to the effective batch: they do not grow with the micro-batch.
    near, far, one = (replace(split, inputs=0.0) for split in (near, far, one))
    per_window = (far + near * -1) * (1 / (PROBED[1] - PROBED[0]))
    return MemoryModel(
        fixed=near + per_window * -PROBED[0],
        per_window=per_window,
        floor=one,
        input_bytes=sum(tensor.nbytes for tensor in tensors(workload.blank_batch(1))),
    )


def probe(workload: Workload, precision: Name, micro_batch: int) -> MemorySplit:
    """Return the peak of a micro-batch after others of the same update; draws no random number."""
    with FakeTensorMode():
        return track_update(workload, precision, micro_batch, steps=1, gradient_held=True)


def track_update(
    workload: Workload, precision: Name, micro_batch: int, steps: int, *, gradient_held: bool
) -> MemorySplit:
    """Run an update of `steps` micro-batches and return its peak, on real tensors unless they are faked.

    With `gradient_held` a gradient is there from the start, as it is from an update's second micro-batch on.
    """
    # Brings in torch's compiler, as much again as torch: whoever starts pays for it only where it predicts.
    from torch.distributed._tools.mem_tracker import MemTracker

    rehearsal = Rehearsal(workload, precision, micro_batch * steps)
    tracker = MemTracker()
    tracker.track_external(rehearsal.model, rehearsal.optimizer, *tensors(rehearsal.batch))

    def context(last: bool) -> AbstractContextManager[object]:
        tracker.reset_mod_stats()  # the tracker refuses a second forward pass without; its peak stays
        return nullcontext()

    with tracker:
        rehearsal.prime()
        if gradient_held:
            rehearsal.blank_gradients()
        rehearsal.update(micro_batch, context)
    (peak,) = tracker.get_tracker_snapshot("peak").values()
    parameters = peak["Parameter"] + peak["Buffer"]
    return MemorySplit(
        parameters=parameters,
        gradients=peak["Gradient"],
        optimizer=peak["Optstate"],
        activations=peak["Activation"] + peak["Temp"],
        inputs=peak["Other"],
        copies=parameters * (1 if workload.recipe.train.ema_half_life is None else 2),
    )
