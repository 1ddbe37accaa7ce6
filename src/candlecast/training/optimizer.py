"""AdamW, with weight decay on matrices only."""

import torch
from torch import nn

from candlecast.training.config import Recipe


def make_optimizer(model: nn.Module, recipe: Recipe) -> torch.optim.AdamW:
    """Return AdamW over the model's trainable parameters, in two groups.

    Weights with two axes or more decay; biases, gains and other vectors do not, as pulling a gain towards
    zero shrinks a layer instead of simplifying it.
    """
    config, effective_batch = recipe.train, recipe.accum.windows_per_update
    trainable = [parameter for parameter in model.parameters() if parameter.requires_grad]
    groups = [
        {"params": [p for p in trainable if p.ndim >= 2], "weight_decay": config.weight_decay},
        {"params": [p for p in trainable if p.ndim < 2], "weight_decay": 0.0},
    ]
    return torch.optim.AdamW(
        [group for group in groups if group["params"]],
        lr=config.scaled_peak_lr(effective_batch),
        betas=(config.beta1, config.scaled_beta2(effective_batch)),
        fused=config.fused_optimizer,
    )


def set_learning_rate(optimizer: torch.optim.Optimizer, rate: float) -> None:
    """Give every parameter group the same rate."""
    for group in optimizer.param_groups:
        group["lr"] = rate
