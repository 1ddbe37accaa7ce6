"""The two layers that the TCN and the Transformer encoder share: channel dropout, and a choice of norm.

Everywhere in this package a sequence is [B, T, C]: B windows, T bars, C channels, channels last in memory.
"""

import math
from typing import Literal

import torch.nn.functional as functional
from torch import Tensor, nn

GROUPS = 8  # of channels, for norm: group; fewer where the width has no such divisor

NormKind = Literal["layer", "group", "batch"]


class ChannelDropout(nn.Module):
    """Drop whole channels of a window, at all bars alike ("spatial" dropout, as in Bai et al. 2018).

    Neighbouring bars of a channel repeat each other, so dropping single ones hides little. One random number
    per window and channel also costs T times less than one per element.
    """

    def __init__(self, probability: float) -> None:
        super().__init__()
        self.probability = probability

    def forward(self, inputs: Tensor) -> Tensor:
        """Map [B, T, C] to [B, T, C]."""
        if not self.training or self.probability == 0:
            return inputs
        kept = functional.dropout(inputs.new_ones(inputs.shape[0], 1, inputs.shape[2]), self.probability)
        return inputs * kept


class AcrossTime(nn.Module):
    """Apply a norm that expects [B, C, T] to [B, T, C]. It takes its statistics over the whole window."""

    def __init__(self, norm: nn.GroupNorm | nn.BatchNorm1d) -> None:
        super().__init__()
        self.norm = norm

    def forward(self, inputs: Tensor) -> Tensor:
        """Map [B, T, C] to [B, T, C]."""
        outputs: Tensor = self.norm(inputs.transpose(1, 2))
        return outputs.transpose(1, 2)


def make_norm(kind: NormKind, width: int) -> nn.Module:
    """Return a norm with a gain and a shift per channel, mapping [B, T, C] to [B, T, C].

    `layer` normalises the channels of each bar, so a bar's output knows no later bar. `group` and `batch` mix
    over time, and `batch` over the windows of a micro-batch too: accumulating micro-batches then no longer
    equals one large batch.
    """
    if kind == "layer":
        return nn.LayerNorm(width)
    if kind == "group":
        return AcrossTime(nn.GroupNorm(math.gcd(GROUPS, width), width))
    return AcrossTime(nn.BatchNorm1d(width))
