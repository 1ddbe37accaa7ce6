"""One exact optimiser update from the micro-batches b_1 .. b_K of an effective batch.

1  n <- |b_1| + ... + |b_K|                effective batch size (or total weight)
2  for k = 1..K:
3      l_k <- (1/n) sum_{i in b_k} loss_i  forward, under autocast
4      g <- g + grad(s * l_k)              backward adds into .grad
5  g <- clip(g / s)                        unscale once, then clip
6  theta <- step(theta, g); update s; g <- 0   (also when the step was skipped)

The window losses are summed and divided by one denominator known before the first backward, so a short
last micro-batch, a short last effective batch and per-window weights are exact. There is no batch index
to take a modulo of, so nothing is carried over or dropped. `s` is the loss scale: 1 but in float16.

The modulo form most articles print divides by a constant, and steps only on full groups; the tests keep
it as the wrong way. What runs under autocast, on which device and on which process is the business of
`loss_sum` and `context`: this module needs neither to be exact.
"""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Protocol, Self, TypeVar

import torch
from torch import Tensor
from torch.amp.grad_scaler import GradScaler
from torch.nn.utils import clip_grad_norm_


class Windows(Protocol):
    """Windows that know how much each counts and can be cut without a copy."""

    @property
    def weight(self) -> Tensor:
        """Weights [B]; all ones unless given."""

    def __len__(self) -> int:
        """Return B."""

    def __getitem__(self, part: slice, /) -> Self:
        """Return some of the windows."""


Batch = TypeVar("Batch", bound=Windows)


def micro_batches(batch: Batch, size: int) -> list[Batch]:
    """Return the effective batch in slices of `size` windows; the last may be shorter, none is dropped."""
    return [batch[start : start + size] for start in range(0, len(batch), size)]


def total_weight(batch: Windows) -> Tensor:
    """Return the whole effective batch's weight, on the device: reading it would wait for the device."""
    return batch.weight.sum()  # line 1


def accumulate_gradients(
    loss_sum: Callable[[Batch], Tensor],
    batches: Sequence[Batch],
    n: Tensor,
    scaler: GradScaler,
    context: Callable[[bool], AbstractContextManager[object]] = lambda last: nullcontext(),
) -> Tensor:
    """Lines 2 to 4: add the gradient of the weighted mean loss into .grad; return that loss, detached.

    `loss_sum` is the weighted sum of a micro-batch's window losses. `n` is the whole effective batch's
    weight, over all processes. `context(last)` surrounds forward and backward of each micro-batch.
    """
    loss = torch.zeros_like(n)
    for k, batch in enumerate(batches, start=1):  # line 2
        with context(k == len(batches)):
            loss_k = loss_sum(batch) / n  # line 3
            scaler.scale(loss_k).backward()  # type: ignore[no-untyped-call]  # line 4
        loss += loss_k.detach()
        del loss_k  # or its graph's activations would live on through the next forward
    return loss


def clip_gradients(optimizer: torch.optim.Optimizer, scaler: GradScaler, max_norm: float) -> Tensor:
    """Line 5: unscale once, then clip the whole gradient's L2 norm; return the norm before clipping."""
    scaler.unscale_(optimizer)  # line 5
    parameters = [parameter for group in optimizer.param_groups for parameter in group["params"]]
    return clip_grad_norm_(parameters, max_norm)


def apply_gradients(optimizer: torch.optim.Optimizer, scaler: GradScaler, *, finite: bool = True) -> None:
    """Line 6: step unless the gradient is not finite; adapt the scale and clear .grad in either case."""
    if finite:
        scaler.step(optimizer)  # line 6
    scaler.update()
    optimizer.zero_grad(set_to_none=True)
