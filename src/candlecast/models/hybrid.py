"""The forecaster: a causal TCN for local shape, a Transformer encoder for long range, and two heads."""

from typing import NamedTuple

import torch
from torch import Tensor, nn

from candlecast.models.config import ModelConfig
from candlecast.models.tcn import TCN
from candlecast.models.transformer import Encoder

HEAD_STD = 0.01  # of a head's initial weights
POSITION_STD = 0.02  # of the initial positional embedding


class Forecast(NamedTuple):
    """What the model says of each window, from what is known at its last bar."""

    mean: Tensor  # [B], forward log-return in training standard deviations from the training mean
    direction_logit: Tensor  # [B], log-odds that the log-return is above 0


class Hybrid(nn.Module):
    """TCN, positional embedding, Transformer encoder, norm, heads.

    Attention does not know the order of bars, and the TCN's outputs tell it only near the start of the
    window, through the padding. A learned vector per bar says how old a bar is; windows have one length, so
    nothing needs to extrapolate.

    The heads start near zero: the first forecasts are close to the training mean and to even odds, yet every
    parameter has a gradient from the first update on.
    """

    def __init__(self, config: ModelConfig, num_features: int, length: int) -> None:
        super().__init__()
        self.config, self.num_features, self.length = config, num_features, length
        self.tcn = TCN(
            num_features, config.width, config.tcn_blocks, config.kernel_size, config.dropout, config.norm
        )
        self.position = nn.Parameter(torch.empty(length, config.width))
        self.encoder = Encoder(config.width, config.layers, config.heads, config.dropout)
        self.norm = nn.LayerNorm(config.width)
        self.mean_head = nn.Linear(config.width, 1)
        self.direction_head = nn.Linear(config.width, 1)
        self.tcn.checkpoint_activations = config.checkpoint_activations
        self.encoder.checkpoint_activations = config.checkpoint_activations
        nn.init.normal_(self.position, std=POSITION_STD)
        for head in (self.mean_head, self.direction_head):
            nn.init.normal_(head.weight, std=HEAD_STD)
            nn.init.zeros_(head.bias)

    def forward(self, inputs: Tensor) -> Forecast:
        """Map standardised features [B, T, F] to a forecast per window [B]."""
        outputs = self.tcn(inputs) + self.position
        outputs = self.norm(self.encoder(outputs))
        return Forecast(self.mean_head(outputs).squeeze(-1), self.direction_head(outputs).squeeze(-1))


def build_model(config: ModelConfig, num_features: int, length: int) -> Hybrid:
    """Return a model for windows of `length` bars, its weights drawn from torch's generator."""
    return Hybrid(config, num_features, length)
