"""A batch of windows: what a model sees and what it is asked."""

from dataclasses import dataclass
from typing import Self

import torch
from torch import Tensor


@dataclass(frozen=True, slots=True)
class Batch:
    """B windows of T bars and F standardised features; all tensors on one device."""

    inputs: Tensor  # [B, T, F] float32, oldest bar first
    target: Tensor  # [B] float32, forward log-return in training standard deviations
    direction: Tensor  # [B] float32, 1 where the log-return itself is above zero, else 0
    weight: Tensor  # [B] float32, share in the loss
    rows: Tensor  # [B] int64, panel row of the window's last bar

    def __len__(self) -> int:
        return len(self.inputs)

    def __getitem__(self, windows: slice) -> Self:
        """Return some of the windows, as views."""
        return type(self)(*(tensor[windows] for tensor in self._tensors()))

    def to(self, device: torch.device | str, non_blocking: bool = False) -> Self:
        """Return the batch on `device`; no copy when it is there already."""
        return type(self)(*(tensor.to(device, non_blocking=non_blocking) for tensor in self._tensors()))

    def pin_memory(self) -> Self:
        """Return a copy in page-locked memory, from which a CUDA device copies without the processor."""
        return type(self)(*(tensor.pin_memory() for tensor in self._tensors()))

    def record_stream(self, stream: torch.cuda.Stream) -> None:
        """Keep the memory until what `stream` has been given so far is done; made on another stream."""
        for tensor in self._tensors():
            tensor.record_stream(stream)

    def _tensors(self) -> tuple[Tensor, ...]:
        return self.inputs, self.target, self.direction, self.weight, self.rows
