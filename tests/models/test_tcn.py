import pytest
import torch
from oracle.models import causal_convolution

from candlecast.models.layers import NormKind
from candlecast.models.tcn import TCN, ResidualBlock, receptive_field

B, T, F, C = 3, 40, 7, 6


def make_tcn(
    norm: NormKind = "layer", dropout: float = 0.0, num_blocks: int = 3, kernel_size: int = 2
) -> TCN:
    torch.manual_seed(1)
    return TCN(F, C, num_blocks, kernel_size, dropout, norm).double()


def reach(tcn: TCN, bar: int) -> torch.Tensor:
    """Return for each input bar [T] how strongly the output at `bar` of the first window depends on it."""
    inputs = torch.randn(B, T, F, dtype=torch.float64, requires_grad=True)
    (gradient,) = torch.autograd.grad(tcn(inputs)[0, bar].square().sum(), inputs)
    return gradient[0].abs().sum(dim=-1)


@pytest.mark.parametrize("kernel_size", [2, 3, 5])
@pytest.mark.parametrize("dilation", [1, 4])
def test_a_round_equals_relu_and_the_sum_written_out_bar_by_bar(kernel_size: int, dilation: int) -> None:
    torch.manual_seed(0)
    block = ResidualBlock(C, kernel_size, dilation, dropout=0.0, norm="layer", scale=0.5).double()
    norm, *_, conv = block.branch[:5]
    inputs = torch.randn(B, T, C, dtype=torch.float64)
    direction = torch.randn(B, T, C, dtype=torch.float64)
    actual = block.branch[:5](inputs)
    expected = causal_convolution(norm(inputs).clamp(min=0), conv.weight, dilation)
    torch.testing.assert_close(actual, expected, rtol=0, atol=1e-12)
    wanted = (norm.weight, norm.bias, conv.weight)
    gradients = torch.autograd.grad((actual * direction).sum(), wanted)
    for gradient, other in zip(
        gradients, torch.autograd.grad((expected * direction).sum(), wanted), strict=True
    ):
        torch.testing.assert_close(gradient, other, rtol=0, atol=1e-11)


def test_output_has_a_vector_of_the_width_for_every_bar() -> None:
    assert make_tcn()(torch.randn(B, T, F, dtype=torch.float64)).shape == (B, T, C)


@pytest.mark.parametrize("bar", [0, 11, T - 1])
def test_with_layer_norm_no_output_depends_on_a_later_bar(bar: int) -> None:
    assert torch.all(reach(make_tcn("layer"), bar)[bar + 1 :] == 0)


@pytest.mark.parametrize("norm", ["group", "batch"])
def test_group_and_batch_norm_let_later_bars_through(norm: NormKind) -> None:
    assert torch.all(reach(make_tcn(norm), bar=11)[12:] > 0)


@pytest.mark.parametrize(("num_blocks", "kernel_size"), [(1, 2), (3, 2), (2, 4)])
def test_receptive_field_is_exactly_the_closed_form(num_blocks: int, kernel_size: int) -> None:
    bars = receptive_field(num_blocks, kernel_size)
    seen = reach(make_tcn(num_blocks=num_blocks, kernel_size=kernel_size), bar=T - 1)
    assert bars < T
    assert torch.all(seen[T - bars :] > 0)
    assert torch.all(seen[: T - bars] == 0)


def test_dropout_is_off_in_evaluation_and_draws_no_random_number_at_zero() -> None:
    inputs = torch.randn(B, T, F, dtype=torch.float64)
    dropping = make_tcn(dropout=0.5).eval()
    torch.testing.assert_close(dropping(inputs), make_tcn(dropout=0.0)(inputs), rtol=0, atol=0)
    tcn = make_tcn(dropout=0.0).train()
    state = torch.random.get_rng_state()
    tcn(inputs)
    assert torch.equal(torch.random.get_rng_state(), state)


def test_at_first_blocks_add_the_variance_of_one_whatever_their_number() -> None:
    inputs = torch.randn(B, T, F, dtype=torch.float64)
    for num_blocks in (1, 4):
        tcn = make_tcn(num_blocks=num_blocks)
        added = tcn(inputs) - tcn.projection(inputs)
        assert 0.5 < added.var() < 2
