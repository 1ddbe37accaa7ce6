"""The `model` section of the parameters."""

from dataclasses import dataclass
from typing import Literal

from candlecast.params import require


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
