"""The training windows in order, until training is over."""

from collections.abc import Iterator

from candlecast.training.budget import Budget
from candlecast.training.state import TrainingState
from candlecast.windows.batch import Batch
from candlecast.windows.dataset import WindowDataset
from candlecast.windows.sampler import effective_batches, epoch_order
from candlecast.windows.transfer import prefetched


def training_stream(
    dataset: WindowDataset, seed: int, budget: Budget, state: TrainingState
) -> Iterator[Batch]:
    """Yield effective batches on the training's device, epoch after epoch, from where the counters stand.

    A pure function of the seed and the windows seen so far. The last batch of an epoch may be short, and so
    may the last of a budget in samples. The micro-batch does not enter, so it cannot change the order; nor
    can a resume, which only starts further along.
    """
    while state.outcome is None:
        epoch, start = divmod(state.counters.samples_seen, len(dataset))
        order = epoch_order(len(dataset), seed, epoch)
        batches = effective_batches(dataset, order, budget.effective_batch, start)
        for batch in prefetched(batches, state.device):
            left = budget.left(state.counters)
            yield batch if left is None or left >= len(batch) else batch[:left]
            if state.outcome is not None:
                return
