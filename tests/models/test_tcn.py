import pytest
import torch
from oracle.models import causal_convolution

from candlecast.models.layers import NormKind
from candlecast.models.tcn import TCN, CausalConv, receptive_field

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
def test_convolution_equals_the_sum_written_out_bar_by_bar(kernel_size: int, dilation: int) -> None:
    torch.manual_seed(0)
    conv = CausalConv(C, kernel_size, dilation).double()
    inputs = torch.randn(B, T, C, dtype=torch.float64)
    expected = causal_convolution(inputs, conv.weight, dilation)
    torch.testing.assert_close(conv(inputs), expected, rtol=0, atol=1e-12)


def test_convolution_gradients_equal_those_of_the_sum_written_out() -> None:
    torch.manual_seed(0)
    conv = CausalConv(C, 3, 2).double()
    inputs = torch.randn(B, T, C, dtype=torch.float64, requires_grad=True)
    direction = torch.randn(B, T, C, dtype=torch.float64)
    wanted = (inputs, conv.weight)
    actual = torch.autograd.grad((conv(inputs) * direction).sum(), wanted)
    expected = torch.autograd.grad((causal_convolution(inputs, conv.weight, 2) * direction).sum(), wanted)
    for one, other in zip(actual, expected, strict=True):
        torch.testing.assert_close(one, other, rtol=0, atol=1e-11)


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


def test_dropout_drops_whole_channels_of_a_window() -> None:
    torch.manual_seed(3)
    tcn = make_tcn(dropout=0.5, num_blocks=1)
    dropout = tcn.blocks[0].branch[3]
    outputs = dropout(torch.ones(B, T, C, dtype=torch.float64))
    assert set(outputs.unique().tolist()) == {0.0, 2.0}
    assert torch.all(outputs == outputs[:, :1])
    assert not torch.all(outputs == outputs[:1])


def test_dropout_is_off_in_evaluation_and_draws_no_random_number_at_zero() -> None:
    inputs = torch.randn(B, T, F, dtype=torch.float64)
    dropping = make_tcn(dropout=0.5).eval()
    torch.testing.assert_close(dropping(inputs), make_tcn(dropout=0.0)(inputs), rtol=0, atol=0)
    tcn = make_tcn(dropout=0.0).train()
    state = torch.random.get_rng_state()
    tcn(inputs)
    assert torch.equal(torch.random.get_rng_state(), state)


def test_blocks_start_close_to_the_identity_whatever_their_number() -> None:
    inputs = torch.randn(B, T, F, dtype=torch.float64)
    for num_blocks in (1, 4):
        tcn = make_tcn(num_blocks=num_blocks)
        added = tcn(inputs) - tcn.projection(inputs)
        assert 0.2 < added.var() < 0.8
