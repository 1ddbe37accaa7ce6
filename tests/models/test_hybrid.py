from dataclasses import replace

import pytest
import torch
from oracle.models import last_bar_of_all
from torch.nn import functional

from candlecast.models.config import ModelConfig
from candlecast.models.hybrid import Hybrid, build_model
from candlecast.models.layers import NormKind

B, T, F = 5, 24, 7
CONFIG = ModelConfig(
    width=16,
    tcn_blocks=2,
    kernel_size=3,
    layers=2,
    heads=4,
    dropout=0.0,
    norm="layer",
    checkpoint_activations=False,
)


def make_model(config: ModelConfig = CONFIG, seed: int = 0) -> Hybrid:
    torch.manual_seed(seed)
    return build_model(config, num_features=F, length=T)


def make_inputs(dtype: torch.dtype = torch.float64) -> torch.Tensor:
    return torch.randn(B, T, F, generator=torch.Generator().manual_seed(5), dtype=torch.float64).to(dtype)


def gradients(model: Hybrid, inputs: torch.Tensor) -> dict[str, torch.Tensor]:
    model.zero_grad()
    target = torch.linspace(-2, 2, B, dtype=inputs.dtype)
    forecast = model(inputs)
    loss = functional.mse_loss(forecast.mean, target, reduction="sum")
    up = (target > 0).to(inputs.dtype)
    (loss + functional.binary_cross_entropy_with_logits(forecast.direction_logit, up)).backward()
    return {
        name: parameter.grad for name, parameter in model.named_parameters() if parameter.grad is not None
    }


def test_a_forecast_has_one_mean_and_one_logit_a_window() -> None:
    forecast = make_model()(make_inputs(torch.float32))
    assert forecast.mean.shape == (B,)
    assert forecast.direction_logit.shape == (B,)


def test_swapped_axes_are_refused() -> None:
    with pytest.raises(RuntimeError):
        make_model()(make_inputs(torch.float32).transpose(1, 2))


@pytest.mark.parametrize("norm", ["layer", "group", "batch"])
def test_forecast_equals_computing_every_bar_in_every_layer(norm: NormKind) -> None:
    model = make_model(replace(CONFIG, norm=norm)).double()
    forecast, expected = model(make_inputs()), last_bar_of_all(model, make_inputs())
    torch.testing.assert_close(tuple(forecast), expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("norm", ["layer", "group", "batch"])
def test_every_parameter_has_a_gradient_that_is_not_rounding_noise(norm: NormKind) -> None:
    # Noise is what float32 and float64 disagree on; Adam would follow it at full speed.
    model = make_model(replace(CONFIG, norm=norm))
    rough = gradients(model, make_inputs(torch.float32))
    exact = gradients(model.double(), make_inputs())
    assert exact.keys() == {name for name, _ in model.named_parameters()}
    for name, gradient in exact.items():
        error = (rough[name].double() - gradient).norm() / gradient.norm()
        assert error < 1e-3, f"{name}: float32 and float64 gradients differ by {error:.1e}"


def test_first_forecasts_are_near_the_training_mean_and_even_odds() -> None:
    forecast = make_model()(make_inputs(torch.float32))
    assert forecast.mean.abs().max() < 0.2
    assert (forecast.direction_logit.sigmoid() - 0.5).abs().max() < 0.05


@pytest.mark.parametrize("norm", ["layer", "group", "batch"])
def test_in_evaluation_a_forecast_does_not_depend_on_its_batch_mates(norm: NormKind) -> None:
    model = make_model(replace(CONFIG, norm=norm, dropout=0.3)).double()
    model(make_inputs())
    model.eval()
    together = model(make_inputs())
    alone = [model(window[None]) for window in make_inputs()]
    for field in range(2):
        expected = torch.cat([forecast[field] for forecast in alone])
        torch.testing.assert_close(together[field], expected, rtol=0, atol=1e-12)


def test_the_same_seed_gives_the_same_weights() -> None:
    first, again, other = make_model(seed=4), make_model(seed=4), make_model(seed=5)
    for name, weight in first.state_dict().items():
        assert torch.equal(weight, again.state_dict()[name])
    assert not torch.equal(first.position, other.position)


@pytest.mark.parametrize("norm", ["layer", "group", "batch"])
@pytest.mark.parametrize(("width", "blocks", "kernel", "layers"), [(16, 2, 3, 2), (8, 4, 2, 1)])
def test_parameter_count_is_the_closed_form(
    norm: NormKind, width: int, blocks: int, kernel: int, layers: int
) -> None:
    config = replace(CONFIG, norm=norm, width=width, tcn_blocks=blocks, kernel_size=kernel, layers=layers)
    projection = F * width + width
    tcn = blocks * 2 * (kernel * width**2 + 2 * width)
    attention = 4 * width**2 + width
    perceptron = 2 * 4 * width**2 + 4 * width + width
    encoder = layers * (attention + perceptron + 2 * 2 * width)
    heads = 2 * width + 2 * (width + 1)
    expected = projection + tcn + T * width + encoder + heads
    assert sum(parameter.numel() for parameter in make_model(config).parameters()) == expected


def test_attention_knows_the_order_of_the_bars() -> None:
    model = make_model().double()
    outputs = torch.randn(B, T, CONFIG.width, dtype=torch.float64)
    swapped = outputs[:, [1, 0, *range(2, T)]]
    same = model.encoder(outputs) - model.encoder(swapped)
    torch.testing.assert_close(same, torch.zeros_like(same), rtol=0, atol=1e-12)
    moved = model.encoder(outputs + model.position) - model.encoder(swapped + model.position)
    assert moved.abs().max() > 1e-6


def test_under_bfloat16_autocast_forecasts_stay_close() -> None:
    model = make_model()
    inputs = make_inputs(torch.float32)
    with torch.autocast("cpu", torch.bfloat16):
        rough = model(inputs)
    exact = model(inputs)
    for one, other in zip(rough, exact, strict=True):
        assert (one - other).norm() / other.norm() < 0.05
