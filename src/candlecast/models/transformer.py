"""A pre-norm Transformer encoder of which only the last bar's output is wanted.

Pre-norm (Xiong et al. 2020, arXiv 2002.04745) trains without a delicate warm-up. The last layer computes one
query, that of the last bar: the other T - 1 outputs would be thrown away.
"""

import torch.nn.functional as functional
from torch import Tensor, nn

from candlecast.models.layers import ChannelDropout
from candlecast.models.recompute import recomputed


class Attention(nn.Module):
    """Multi-head attention of some bars to all bars of their window.

    There is no dropout on the attention weights: on CPU it alone drops the fused kernel, which costs 2.8
    times the memory and half the speed. The inputs are normed, so a shift stands in for the query and value
    biases; a key bias would change nothing, since it adds the same to all scores of a query.
    """

    def __init__(self, width: int, num_heads: int) -> None:
        super().__init__()
        self.num_heads = num_heads
        self.query = nn.Linear(width, width, bias=False)
        self.key_value = nn.Linear(width, 2 * width, bias=False)
        self.output = nn.Linear(width, width)

    def forward(self, queries: Tensor, inputs: Tensor) -> Tensor:
        """Map queries [B, Q, C] and inputs [B, T, C] to [B, Q, C]."""
        query = self._split(self.query(queries))
        key, value = (self._split(part) for part in self.key_value(inputs).chunk(2, dim=-1))
        attended = functional.scaled_dot_product_attention(query, key, value)  # [B, H, Q, C / H]
        outputs: Tensor = self.output(attended.transpose(1, 2).flatten(2))
        return outputs

    def _split(self, channels: Tensor) -> Tensor:
        # [B, T, C] to [B, H, T, C / H], a view
        num_windows, num_bars, width = channels.shape
        return channels.view(num_windows, num_bars, self.num_heads, width // self.num_heads).transpose(1, 2)


class EncoderLayer(nn.Module):
    """Attention, then a two-layer perceptron on each bar; each reads a norm and adds to its input."""

    def __init__(self, width: int, num_heads: int, dropout: float) -> None:
        super().__init__()
        self.attention_norm = nn.LayerNorm(width)
        self.attention = Attention(width, num_heads)
        self.perceptron_norm = nn.LayerNorm(width)
        self.perceptron = nn.Sequential(
            nn.Linear(width, 4 * width), nn.GELU(approximate="tanh"), nn.Linear(4 * width, width)
        )
        self.dropout = ChannelDropout(dropout)

    def forward(self, inputs: Tensor, *, last_only: bool = False) -> Tensor:
        """Map [B, T, C] to [B, T, C], or to [B, 1, C], the last bar's, without computing the others."""
        first = -1 if last_only else 0
        normed = self.attention_norm(inputs)
        outputs: Tensor = inputs[:, first:] + self.dropout(self.attention(normed[:, first:], normed))
        outputs = outputs + self.dropout(self.perceptron(self.perceptron_norm(outputs)))
        return outputs


class Encoder(nn.Module):
    """Encoder layers; each bar attends to the whole window, all of which is known at its last bar."""

    def __init__(self, width: int, num_layers: int, num_heads: int, dropout: float) -> None:
        super().__init__()
        self.layers = nn.ModuleList(EncoderLayer(width, num_heads, dropout) for _ in range(num_layers))
        self.checkpoint_activations = False
        for layer in self.layers:
            assert isinstance(layer, EncoderLayer)
            initialise(layer, num_residuals=2 * num_layers)

    def forward(self, inputs: Tensor) -> Tensor:
        """Map [B, T, C] to the last bar's output [B, C]."""
        outputs = inputs
        for layer in self.layers[:-1]:
            outputs = recomputed(layer, outputs) if self.checkpoint_activations else layer(outputs)
        last: Tensor = self.layers[-1](outputs, last_only=True)
        return last.squeeze(1)


def initialise(layer: EncoderLayer, num_residuals: int) -> None:
    """Draw weights of variance 1 / fan-in; divide those that end a residual branch by sqrt(num_residuals).

    So N branches together add as much variance as one (GPT-2's rule). Biases start at 0.
    """
    ends = (layer.attention.output, layer.perceptron[-1])
    for module in layer.modules():
        if isinstance(module, nn.Linear):
            scale = num_residuals**-0.5 if module in ends else 1.0
            nn.init.normal_(module.weight, std=scale * module.in_features**-0.5)
            if module.bias is not None:
                nn.init.zeros_(module.bias)
