"""The training windows in order, without end: a pure function of the seed and the windows seen so far."""

from collections.abc import Iterator

from candlecast.training.budget import Budget, Counters
from candlecast.windows.batch import Batch
from candlecast.windows.dataset import WindowDataset
from candlecast.windows.sampler import effective_batches, epoch_order


def training_stream(dataset: WindowDataset, seed: int, budget: Budget, counters: Counters) -> Iterator[Batch]:
    """Yield effective batches, epoch after epoch, from where the counters stand.

    The last batch of an epoch may be short, and so may the last of a budget in samples. The micro-batch
    does not enter, so it cannot change the order; nor can a resume, which only starts further along.
    """
    while True:
        epoch, start = divmod(counters.samples_seen, len(dataset))
        order = epoch_order(len(dataset), seed, epoch)
        for batch in effective_batches(dataset, order, budget.effective_batch, start):
            left = budget.left(counters)
            yield batch if left is None or left >= len(batch) else batch[:left]
