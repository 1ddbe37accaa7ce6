"""One large batch by plain autograd, and the modulo form most articles print."""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional

from candlecast.models.hybrid import Forecast
from candlecast.training.config import TrainConfig
from candlecast.windows.batch import Batch


def losses(forecast: Forecast, batch: Batch, config: TrainConfig) -> Tensor:
    """Each window's loss, written out from its definition."""
    error = (forecast.mean - batch.target).abs()
    delta = config.huber_delta
    huber = torch.where(error <= delta, error**2 / 2, delta * (error - delta / 2))
    surprise = functional.softplus(forecast.direction_logit) - batch.direction * forecast.direction_logit
    return huber + config.direction_weight * surprise


def full_batch_gradient(
    model: Callable[[Tensor], Forecast] | nn.Module, batch: Batch, config: TrainConfig
) -> tuple[Tensor, Tensor]:
    """Return the weighted mean loss of all windows at once and its gradient, which is left in .grad too."""
    assert isinstance(model, nn.Module)
    model.zero_grad()
    loss = (losses(model(batch.inputs), batch, config) * batch.weight).sum() / batch.weight.sum()
    loss.backward()
    return loss.detach(), torch.cat([parameter.grad.flatten() for parameter in model.parameters()]).clone()


def article_epoch(
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    batches: Sequence[Batch],
    steps: int,
    config: TrainConfig,
) -> int:
    """One epoch as the article writes it; returns how often it stepped."""
    updates = 0
    for i, batch in enumerate(batches):
        loss = losses(model(batch.inputs), batch, config).mean() / steps
        loss.backward()
        if (i + 1) % steps == 0:
            optimizer.step()
            optimizer.zero_grad(set_to_none=False)
            updates += 1
    return updates
