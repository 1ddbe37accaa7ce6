"""The order in which training windows are seen: a pure function of the seed and the epoch."""

import hashlib
from collections.abc import Iterator

import torch
from torch import Tensor

from candlecast.windows.batch import Batch
from candlecast.windows.dataset import WindowDataset


def epoch_order(num_windows: int, seed: int, epoch: int) -> Tensor:
    """Return a permutation of 0 .. num_windows - 1 that depends on nothing but the arguments.

    Its own generator: no global one is read or moved, so the order is the same on every device, for every
    micro-batch, and after a resume.
    """
    # Hashed rather than added, so that (seed 1, epoch 0) and (seed 0, epoch 1) are not the same order.
    digest = hashlib.sha256(f"{seed} {epoch}".encode()).digest()
    generator = torch.Generator().manual_seed(int.from_bytes(digest[:4], "big"))
    return torch.randperm(num_windows, generator=generator)


def effective_batches(
    dataset: WindowDataset, order: Tensor, effective_batch: int, start: int = 0
) -> Iterator[Batch]:
    """Yield the windows of `order` from position `start` on, `effective_batch` at a time.

    `start` is how many of them were consumed before. The last batch may be short; it is never dropped.
    """
    for position in range(start, len(order), effective_batch):
        yield dataset.batch(order[position : position + effective_batch])
