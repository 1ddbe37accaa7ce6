"""Activation checkpointing: forget a block's activations and compute them again in the backward pass.

Exact: dropout repeats its random numbers, and batch norm does not move its running statistics a second time.
"""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext

from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint


def recomputed(block: nn.Module, inputs: Tensor) -> Tensor:
    """Return `block(inputs)`, keeping only `inputs` for the backward pass."""

    def contexts() -> tuple[AbstractContextManager[None], AbstractContextManager[None]]:
        return nullcontext(), frozen_statistics(block)

    outputs: Tensor = checkpoint(block, inputs, use_reentrant=False, context_fn=contexts)
    return outputs


@contextmanager
def frozen_statistics(module: nn.Module) -> Iterator[None]:
    """Let batch norms normalise by their batch as before, without moving their running statistics."""
    norms = [norm for norm in module.modules() if isinstance(norm, nn.BatchNorm1d)]
    momenta = [norm.momentum for norm in norms]
    counts = [norm.num_batches_tracked.clone() for norm in norms if norm.num_batches_tracked is not None]
    for norm in norms:
        norm.momentum = 0.0
    try:
        yield
    finally:
        for norm, momentum, count in zip(norms, momenta, counts, strict=True):
            norm.momentum = momentum
            norm.num_batches_tracked = count
