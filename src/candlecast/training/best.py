"""The best validated weights so far."""

from dataclasses import dataclass, field

from torch import Tensor, nn

from candlecast.training.budget import Counters


@dataclass(slots=True)
class Best:
    """The weights with the lowest validation loss, copied on an update boundary."""

    loss: float = float("inf")
    update: int | None = None
    samples_seen: int = 0
    state: dict[str, Tensor] = field(default_factory=dict)

    def offer(self, loss: float, counters: Counters, model: nn.Module) -> bool:
        """Keep the model's weights and buffers if `loss` is below the best so far; say whether it is."""
        if not loss < self.loss:
            return False
        self.loss, self.update, self.samples_seen = loss, counters.update, counters.samples_seen
        self.state = {name: tensor.detach().clone() for name, tensor in model.state_dict().items()}
        return True

    def stale(self, counters: Counters, patience: int | None) -> bool:
        """Say whether more than `patience` windows went by without a better validation."""
        return patience is not None and counters.samples_seen - self.samples_seen >= patience
