"""What a window's forecast costs: the error of its return plus the surprise at its direction."""

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import functional

from candlecast.models.hybrid import Forecast
from candlecast.training.config import TrainConfig
from candlecast.training.precision import Precision
from candlecast.windows.batch import Batch


def window_losses(forecast: Forecast, batch: Batch, config: TrainConfig) -> Tensor:
    """Return each window's loss [B], in the precision of the target.

    Huber on the standardised return, quadratic up to `huber_delta` standard deviations: the forecast stays
    close to the conditional mean, which is what R2 measures, while a crash day weighs linearly instead of
    with its square. Then `direction_weight` x binary cross-entropy on the direction's logit.
    """
    mean = forecast.mean.to(batch.target.dtype)
    logit = forecast.direction_logit.to(batch.direction.dtype)
    regression = functional.huber_loss(mean, batch.target, reduction="none", delta=config.huber_delta)
    direction = functional.binary_cross_entropy_with_logits(logit, batch.direction, reduction="none")
    return regression + config.direction_weight * direction


def make_loss_sum(
    forward: Callable[[Tensor], Forecast], config: TrainConfig, precision: Precision
) -> Callable[[Batch], Tensor]:
    """Return the function accumulation works on: a micro-batch's window losses, summed by weight.

    Its gradient is not finite where the loss is not, so that the gradient's norm alone tells of either:
    Huber's slope would stay finite at an infinite error, and processes know only their own losses.
    """

    def loss_sum(batch: Batch) -> Tensor:
        with precision.autocast():
            forecast = forward(batch.inputs)
        losses = window_losses(forecast, batch, config)
        weight = torch.add(batch.weight, losses.detach(), alpha=0)  # + 0, exactly, or + NaN
        return torch.dot(losses, weight)

    return loss_sum
