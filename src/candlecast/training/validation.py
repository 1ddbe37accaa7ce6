"""Scores on the whole validation set; none depends on how it is cut into batches."""

from collections.abc import Callable

import torch
from torch import Tensor

from candlecast.models.hybrid import Forecast
from candlecast.training.config import TrainConfig
from candlecast.training.loss import window_losses
from candlecast.training.records import ValidationRecord
from candlecast.training.state import TrainingState
from candlecast.windows.dataset import WindowDataset


def validate(
    state: TrainingState,
    forward: Callable[[Tensor], Forecast],
    dataset: WindowDataset,
    config: TrainConfig,
) -> ValidationRecord:
    """Score the averaged weights on an update boundary, and keep them if none before did better."""
    state.model.eval()
    with state.average.in_place():
        sums = state.processes.sum(_sums(state, forward, dataset, config))
        loss, squared_error, hits, weight = sums.tolist()
        best = state.best.offer(loss / weight, state.counters, state.model)
    state.model.train()
    return ValidationRecord(
        update=state.counters.update,
        samples_seen=state.counters.samples_seen,
        loss=loss / weight,
        return_rmse_error=(squared_error / weight) ** 0.5,
        directional_accuracy=hits / weight,
        best=best,
    )


@torch.no_grad()
def _sums(
    state: TrainingState,
    forward: Callable[[Tensor], Forecast],
    dataset: WindowDataset,
    config: TrainConfig,
) -> Tensor:
    """Return weighted sums of loss, squared error, hits and one over this process's batches, in float64.

    Divided once, so a short last batch is exact; read once, so the device is waited for once.
    """
    sums = torch.zeros(4, dtype=torch.float64, device=state.device)
    batch_size = state.micro_batch
    stride = batch_size * state.processes.count
    for start in range(batch_size * state.processes.rank, len(dataset), stride):
        indices = torch.arange(start, min(start + batch_size, len(dataset)))
        batch = dataset.batch(indices).to(state.device)
        with state.precision.autocast():
            forecast = forward(batch.inputs)
        hit = (forecast.direction_logit > 0) == (batch.direction > 0.5)
        squared = (forecast.mean.double() - batch.target.double()).square()
        columns = (window_losses(forecast, batch, config), squared, hit, torch.ones_like(batch.weight))
        sums += torch.stack([torch.dot(column.double(), batch.weight.double()) for column in columns])
    return sums
