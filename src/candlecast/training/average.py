"""An exponential moving average of the weights, whose memory is counted in training windows."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn


class WeightAverage:
    """Averaged parameters, updated on update boundaries; buffers are the model's own.

    The weight of what was `half_life` windows ago is halved, so runs of different effective batch average
    over the same data. It starts at the initial weights, which fade at the same rate. Without a half-life
    it is the model itself.
    """

    def __init__(self, model: nn.Module, half_life: int | None) -> None:
        self._half_life = half_life
        self._parameters = [parameter.detach() for parameter in model.parameters()]
        self.values: list[Tensor] = [] if half_life is None else [p.clone() for p in self._parameters]

    def update(self, windows: int) -> None:
        """Move towards the model's weights after an applied update of `windows` windows."""
        if self._half_life is not None:
            decay = 0.5 ** (windows / self._half_life)
            torch._foreach_lerp_(self.values, self._parameters, 1 - decay)

    @contextmanager
    def in_place(self) -> Iterator[None]:
        """Let the model have the averaged weights for a while."""
        own = [parameter.clone() for parameter in self._parameters[: len(self.values)]]
        try:
            if own:
                torch._foreach_copy_(self._parameters, self.values)
            yield
        finally:
            if own:
                torch._foreach_copy_(self._parameters, own)
