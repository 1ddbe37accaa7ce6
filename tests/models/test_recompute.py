from dataclasses import replace

import pytest
import torch

from candlecast.models.config import ModelConfig
from candlecast.models.hybrid import build_model
from candlecast.models.layers import NormKind

B, T, F = 4, 20, 5
CONFIG = ModelConfig(
    width=8,
    tcn_blocks=2,
    kernel_size=3,
    layers=2,
    heads=2,
    dropout=0.2,
    norm="layer",
    checkpoint_activations=False,
)


def gradients_and_buffers(config: ModelConfig) -> tuple[list[torch.Tensor], list[torch.Tensor]]:
    torch.manual_seed(0)
    model = build_model(config, F, T)
    inputs = torch.randn(B, T, F)
    for _ in range(2):
        forecast = model(inputs)
        (forecast.mean.square().sum() + forecast.direction_logit.sum()).backward()
    gradients = [parameter.grad for parameter in model.parameters() if parameter.grad is not None]
    return [*gradients, torch.random.get_rng_state()], list(model.buffers())


@pytest.mark.parametrize("norm", ["layer", "group", "batch"])
def test_checkpointing_changes_no_gradient_no_statistic_and_no_random_number(norm: NormKind) -> None:
    config = replace(CONFIG, norm=norm)
    kept = gradients_and_buffers(config)
    recomputed = gradients_and_buffers(replace(config, checkpoint_activations=True))
    torch.testing.assert_close(recomputed, kept, rtol=0, atol=0)


def test_checkpointing_holds_fewer_activations() -> None:
    def saved_bytes(config: ModelConfig) -> int:
        model, sizes = build_model(config, F, T), dict[int, int]()

        def pack(tensor: torch.Tensor) -> torch.Tensor:
            sizes[tensor.untyped_storage().data_ptr()] = tensor.untyped_storage().nbytes()
            return tensor

        with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
            forecast = model(torch.randn(64, T, F))
        assert forecast.mean.requires_grad
        return sum(sizes.values())

    assert saved_bytes(replace(CONFIG, checkpoint_activations=True)) < saved_bytes(CONFIG) / 2
