"""Slow, obvious twins of the model's fast paths."""

import torch
from torch import Tensor

from candlecast.models.hybrid import Hybrid
from candlecast.models.transformer import Attention, EncoderLayer


def causal_convolution(inputs: Tensor, weight: Tensor, dilation: int) -> Tensor:
    """Convolve [B, T, C] with [C, C, k] bar by bar; the last tap is the present bar."""
    num_windows, length, _ = inputs.shape
    taps = weight.shape[2]
    outputs = torch.zeros(num_windows, length, weight.shape[0], dtype=inputs.dtype)
    for bar in range(length):
        for tap in range(taps):
            source = bar - (taps - 1 - tap) * dilation
            if source >= 0:
                outputs[:, bar] += inputs[:, source] @ weight[:, :, tap].T
    return outputs


def softmax_attention(attention: Attention, queries: Tensor, inputs: Tensor) -> Tensor:
    """Attend head by head with the scores written out: softmax(q k / sqrt(d)) v."""
    width = inputs.shape[-1]
    size = width // attention.num_heads
    query = queries @ attention.query.weight.T
    key = inputs @ attention.key_value.weight[:width].T
    value = inputs @ attention.key_value.weight[width:].T
    heads = []
    for head in range(attention.num_heads):
        part = slice(head * size, (head + 1) * size)
        scores = query[..., part] @ key[..., part].transpose(1, 2) / size**0.5
        heads.append(torch.softmax(scores, dim=-1) @ value[..., part])
    return torch.cat(heads, dim=-1) @ attention.output.weight.T + attention.output.bias


def encoder_layer(layer: EncoderLayer, inputs: Tensor) -> Tensor:
    """Compute every bar's output of a layer, without dropout."""
    normed = layer.attention_norm(inputs)
    outputs = inputs + softmax_attention(layer.attention, normed, normed)
    return outputs + layer.perceptron(layer.perceptron_norm(outputs))


def last_bar_of_all(model: Hybrid, inputs: Tensor) -> tuple[Tensor, Tensor]:
    """Forecast by computing every bar in every layer, and taking the last bar at the very end."""
    outputs = model.tcn(inputs) + model.position
    for layer in model.encoder.layers:
        assert isinstance(layer, EncoderLayer)
        outputs = encoder_layer(layer, outputs)
    outputs = model.norm(outputs)
    return model.mean_head(outputs)[:, -1, 0], model.direction_head(outputs)[:, -1, 0]
