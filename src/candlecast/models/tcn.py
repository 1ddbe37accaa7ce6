"""A causal, dilated, residual temporal convolution network (Bai, Kolter & Koltun 2018, arXiv 1803.01271).

Two departures from the paper: a norm after each convolution instead of a reparametrised weight, so that the
choice of norm can be studied; and no ReLU after the addition, so that the residual path is the identity.
"""

import torch.nn.functional as functional
from torch import Tensor, nn

from candlecast.models.layers import ChannelDropout, NormKind, gain_of, make_norm
from candlecast.models.recompute import recomputed


class CausalConv(nn.Conv1d):
    """A dilated convolution over [B, T, C] whose output at a bar sees no later bar.

    It has no bias: a norm follows, whose shift does the same work. Batch norm would remove a bias entirely,
    and its gradient would be rounding noise.
    """

    def __init__(self, width: int, kernel_size: int, dilation: int) -> None:
        super().__init__(width, width, kernel_size, dilation=dilation, bias=False)
        nn.init.kaiming_normal_(self.weight, nonlinearity="relu")

    def forward(self, inputs: Tensor) -> Tensor:
        """Map [B, T, C] to [B, T, C]: output t = sum over j of weight j times input t - (k - 1 - j) d."""
        (kernel_size,), (dilation,) = self.kernel_size, self.dilation
        padded = functional.pad(inputs, (0, 0, (kernel_size - 1) * dilation, 0))
        # A picture one pixel high, of which [B, T, C] is the channels-last layout: nothing is transposed.
        picture = padded.transpose(1, 2).unsqueeze(2)
        outputs = functional.conv2d(picture, self.weight.unsqueeze(2), dilation=(1, dilation))
        return outputs.squeeze(2).transpose(1, 2)


class ResidualBlock(nn.Module):
    """Two rounds of convolution, norm, ReLU and channel dropout, added to the input.

    `gain` is the initial gain of the last norm, and so the size of what the block first adds.
    """

    def __init__(
        self, width: int, kernel_size: int, dilation: int, dropout: float, norm: NormKind, gain: float
    ) -> None:
        super().__init__()
        last_norm = make_norm(norm, width)
        nn.init.constant_(gain_of(last_norm), gain)
        self.branch = nn.Sequential(
            CausalConv(width, kernel_size, dilation),
            make_norm(norm, width),
            nn.ReLU(),
            ChannelDropout(dropout),
            CausalConv(width, kernel_size, dilation),
            last_norm,
            nn.ReLU(),
            ChannelDropout(dropout),
        )

    def forward(self, inputs: Tensor) -> Tensor:
        """Map [B, T, C] to [B, T, C]."""
        outputs: Tensor = inputs + self.branch(inputs)
        return outputs


class TCN(nn.Module):
    """A projection of each bar's features to the width, then residual blocks with dilations 1, 2, 4, ...

    At first N blocks together add as much variance as one would alone: each has a gain of 1 / sqrt(N).
    """

    def __init__(
        self, num_features: int, width: int, num_blocks: int, kernel_size: int, dropout: float, norm: NormKind
    ) -> None:
        super().__init__()
        self.projection = nn.Linear(num_features, width)
        self.blocks = nn.ModuleList(
            ResidualBlock(width, kernel_size, 2**index, dropout, norm, gain=num_blocks**-0.5)
            for index in range(num_blocks)
        )
        self.receptive_field = receptive_field(num_blocks, kernel_size)
        self.checkpoint_activations = False

    def forward(self, inputs: Tensor) -> Tensor:
        """Map [B, T, F] to [B, T, C]."""
        outputs: Tensor = self.projection(inputs)
        for block in self.blocks:
            outputs = recomputed(block, outputs) if self.checkpoint_activations else block(outputs)
        return outputs


def receptive_field(num_blocks: int, kernel_size: int) -> int:
    """Return how many bars, itself included, an output bar sees: two convolutions in a block."""
    dilations = (1 << num_blocks) - 1  # 1 + 2 + 4 + ...
    return 1 + 2 * (kernel_size - 1) * dilations
