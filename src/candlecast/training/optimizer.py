"""AdamW, with weight decay on matrices only."""

import torch
from torch import nn

from candlecast.training.config import TrainConfig


def make_optimizer(model: nn.Module, config: TrainConfig) -> torch.optim.AdamW:
    """Return AdamW over the model's trainable parameters, in two groups.

    Weights with two axes or more decay; biases, gains and other vectors do not, as pulling a gain towards
    zero shrinks a layer instead of simplifying it.
    """
    trainable = [parameter for parameter in model.parameters() if parameter.requires_grad]
    groups = [
        {"params": [p for p in trainable if p.ndim >= 2], "weight_decay": config.weight_decay},
        {"params": [p for p in trainable if p.ndim < 2], "weight_decay": 0.0},
    ]
    return torch.optim.AdamW(
        [group for group in groups if group["params"]],
        lr=config.peak_lr,
        betas=(config.beta1, config.beta2),
    )


def set_learning_rate(optimizer: torch.optim.Optimizer, rate: float) -> None:
    """Give every parameter group the same rate."""
    for group in optimizer.param_groups:
        group["lr"] = rate
