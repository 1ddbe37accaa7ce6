"""The article's way to train the same network, as most code for it is written.

Its text shows the loop and names the parts. What it leaves open follows the code it is most often built from:
the TCN paper's own repository (weight norm, a ReLU after the addition) and torch's `TransformerEncoderLayer`.
Dropout is on every element and on the attention weights, and every layer computes every bar.
"""

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.utils.parametrizations import weight_norm
from torch.utils.data import DataLoader

from candlecast.models.config import ModelConfig
from candlecast.models.hybrid import Forecast


class TemporalBlock(nn.Module):
    def __init__(self, width: int, kernel_size: int, dilation: int, dropout: float) -> None:
        super().__init__()
        self.padding = (kernel_size - 1) * dilation
        convs = [nn.Conv1d(width, width, kernel_size, padding=self.padding, dilation=dilation) for _ in "12"]
        self.first, self.second = (weight_norm(conv) for conv in convs)
        self.dropout = nn.Dropout(dropout)

    def forward(self, inputs: Tensor) -> Tensor:
        hidden = self.dropout(self.first(inputs)[:, :, : -self.padding].contiguous().relu())
        hidden = self.dropout(self.second(hidden)[:, :, : -self.padding].contiguous().relu())
        return (inputs + hidden).relu()


class ArticleModel(nn.Module):
    """The same width, blocks, kernel, layers and heads as this project's model."""

    def __init__(self, config: ModelConfig, num_features: int, length: int) -> None:
        super().__init__()
        self.projection = nn.Conv1d(num_features, config.width, kernel_size=1)
        self.tcn = nn.Sequential(
            *(
                TemporalBlock(config.width, config.kernel_size, 2**index, config.dropout)
                for index in range(config.tcn_blocks)
            )
        )
        self.position = nn.Parameter(0.02 * torch.randn(length, config.width))
        layer = nn.TransformerEncoderLayer(
            config.width, config.heads, 4 * config.width, config.dropout, batch_first=True
        )
        self.encoder = nn.TransformerEncoder(layer, config.layers)
        self.heads = nn.Linear(config.width, 2)

    def forward(self, inputs: Tensor) -> Forecast:
        hidden = self.tcn(self.projection(inputs.transpose(1, 2))).transpose(1, 2)
        outputs = self.heads(self.encoder(hidden + self.position)[:, -1])
        return Forecast(outputs[:, 0], outputs[:, 1])


class StockEncoder(nn.Module):
    """torch's own encoder in place of this project's, with the same norms, sizes and dropout."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        layer = nn.TransformerEncoderLayer(
            config.width,
            config.heads,
            4 * config.width,
            config.dropout,
            activation="gelu",
            batch_first=True,
            norm_first=True,
        )
        self.encoder = nn.TransformerEncoder(layer, config.layers, enable_nested_tensor=False)

    def forward(self, inputs: Tensor) -> Tensor:
        last: Tensor = self.encoder(inputs)[:, -1]
        return last


def article_loop(
    model: nn.Module,
    loader: DataLoader[tuple[Tensor, ...]],
    optimizer: torch.optim.Optimizer,
    steps: int,
    updated: Callable[[], None],
) -> float:
    """Run one pass over `loader`, as printed in the article; return the mean of what it would log.

    `updated` is called after each update, to take the time.
    """
    model.train()
    optimizer.zero_grad()
    logged = []
    for index, (inputs, target, direction, *_) in enumerate(loader):
        forecast = model(inputs)
        loss = functional.huber_loss(forecast.mean, target)
        loss = loss + 0.5 * functional.binary_cross_entropy_with_logits(forecast.direction_logit, direction)
        loss = loss / steps
        loss.backward()
        logged.append(loss.item())
        if (index + 1) % steps == 0:
            torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm=1.0)
            optimizer.step()
            optimizer.zero_grad()
            updated()
    return sum(logged) / len(logged)
