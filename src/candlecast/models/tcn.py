"""A causal, dilated, residual temporal convolution network, after Bai et al. 2018 (arXiv 1803.01271).

Two departures from the paper. A norm stands in for its weight reparametrisation, so that norms can be
compared. And it comes first in each round, then ReLU, then the convolution (He et al. 2016, arXiv
1603.05027): the path from input to output is the identity, as in the pre-norm encoder that follows.
"""

import torch.nn.functional as functional
from torch import Tensor, nn

from candlecast.models.layers import ChannelDropout, NormKind, make_norm
from candlecast.models.recompute import recomputed


class DilatedConv(nn.Conv1d):
    """A convolution over [B, T, C], without bias: the norms' shifts do its work.

    Under batch norm a bias would also have a gradient of nothing but rounding noise.
    """

    def __init__(self, width: int, kernel_size: int, dilation: int, scale: float) -> None:
        super().__init__(width, width, kernel_size, dilation=dilation, bias=False)
        # Half of what ReLU passes on is zero, hence 2; `scale` is the output's standard deviation.
        nn.init.normal_(self.weight, std=scale * (2 / (width * kernel_size)) ** 0.5)

    def forward(self, inputs: Tensor) -> Tensor:
        """Map [B, T + (k - 1) d, C] to [B, T, C]: output t is the sum of weight j times input t + j d."""
        # A picture one pixel high, of which [B, T, C] is the channels-last layout: nothing is transposed.
        picture = inputs.transpose(1, 2).unsqueeze(2)
        outputs = functional.conv2d(picture, self.weight.unsqueeze(2), dilation=(1, *self.dilation))
        return outputs.squeeze(2).transpose(1, 2)


class ResidualBlock(nn.Module):
    """Two rounds of norm, channel dropout, ReLU and causal convolution, added to the input.

    `scale` is the standard deviation of what the block adds at first.

    ReLU commutes with dropping a channel and with zeros before the first bar. It comes after both and writes
    over its input, so that it and the convolution keep one tensor for the backward pass, not three.
    """

    def __init__(
        self, width: int, kernel_size: int, dilation: int, dropout: float, norm: NormKind, scale: float
    ) -> None:
        super().__init__()
        rounds = []
        for output_scale in (1.0, scale):
            rounds += [
                make_norm(norm, width),
                ChannelDropout(dropout),
                nn.ZeroPad2d((0, 0, (kernel_size - 1) * dilation, 0)),  # before the first bar alone: causal
                nn.ReLU(inplace=True),
                DilatedConv(width, kernel_size, dilation, output_scale),
            ]
        self.branch = nn.Sequential(*rounds)

    def forward(self, inputs: Tensor) -> Tensor:
        """Map [B, T, C] to [B, T, C]."""
        outputs: Tensor = inputs + self.branch(inputs)
        return outputs


class TCN(nn.Module):
    """A projection of each bar's features to the width, then residual blocks with dilations 1, 2, 4, ...

    Each of N blocks first adds a 1 / sqrt(N) of its input in size, so that together they add as much variance
    as one would alone.
    """

    def __init__(
        self, num_features: int, width: int, num_blocks: int, kernel_size: int, dropout: float, norm: NormKind
    ) -> None:
        super().__init__()
        self.projection = nn.Linear(num_features, width)
        nn.init.normal_(self.projection.weight, std=num_features**-0.5)
        nn.init.zeros_(self.projection.bias)
        self.blocks = nn.ModuleList(
            ResidualBlock(width, kernel_size, 2**index, dropout, norm, scale=num_blocks**-0.5)
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
