"""The `model` section of the parameters."""

from dataclasses import dataclass
from typing import Final, Literal

from candlecast.params import require, require_at_most

_MOST_WEIGHTS: Final = 1_000_000_000  # with gradients and moments 16 GB in float32
_FARTHEST: Final = 65_536  # bars that a convolution may reach back, each padded before the window


@dataclass(frozen=True, kw_only=True, slots=True)
class ModelConfig:
    """Sizes of the TCN and the Transformer encoder that follows it."""

    width: int
    tcn_blocks: int
    kernel_size: int
    layers: int
    heads: int
    dropout: float
    norm: Literal["layer", "group", "batch"]
    checkpoint_activations: bool

    def __post_init__(self) -> None:
        """Refuse sizes that make no network."""
        require(self.width >= 2, "model.width: must be at least 2; the norm of one channel is a constant")
        for name in ("tcn_blocks", "layers", "heads"):
            require(getattr(self, name) >= 1, f"model.{name}: must be at least 1")
        require(self.kernel_size >= 2, "model.kernel_size: must be at least 2 bars")
        require(
            self.width % self.heads == 0,
            f"model.heads: {self.heads} does not divide model.width {self.width}",
        )
        require(0 <= self.dropout < 1, "model.dropout: must be at least 0 and below 1")
        self._refuse_what_no_machine_carries()

    def _refuse_what_no_machine_carries(self) -> None:
        require_at_most(self, "model", width=65_536, tcn_blocks=20, layers=1024)
        reach = (self.kernel_size - 1) << (self.tcn_blocks - 1)
        require(
            reach <= _FARTHEST,
            f"model.tcn_blocks: the last of {self.tcn_blocks} blocks would reach back {reach} bars, more "
            f"than {_FARTHEST}; lower model.tcn_blocks or model.kernel_size",
        )
        weights = self.width**2 * (2 * self.kernel_size * self.tcn_blocks + 12 * self.layers)
        require(
            weights <= _MOST_WEIGHTS,
            f"model.width: {self.width} with {self.tcn_blocks} blocks and {self.layers} layers makes about "
            f"{weights} weights, more than {_MOST_WEIGHTS}; lower model.width, tcn_blocks or layers",
        )
