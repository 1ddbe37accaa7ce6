import pytest
import torch
from oracle.models import encoder_layer, softmax_attention

from candlecast.models.transformer import Attention, Encoder, EncoderLayer

B, T, C, H = 3, 11, 12, 4


def test_attention_equals_the_explicit_softmax_formula() -> None:
    torch.manual_seed(0)
    attention = Attention(C, H).double()
    inputs = torch.randn(B, T, C, dtype=torch.float64)
    queries = torch.randn(B, 5, C, dtype=torch.float64)
    expected = softmax_attention(attention, queries, inputs)
    torch.testing.assert_close(attention(queries, inputs), expected, rtol=0, atol=1e-12)


def test_a_layer_equals_its_slow_twin_at_every_bar() -> None:
    torch.manual_seed(0)
    layer = EncoderLayer(C, H, dropout=0.0).double()
    inputs = torch.randn(B, T, C, dtype=torch.float64)
    torch.testing.assert_close(layer(inputs), encoder_layer(layer, inputs), rtol=0, atol=1e-12)


@pytest.mark.parametrize("num_layers", [1, 3])
def test_computing_the_last_query_alone_equals_computing_them_all(num_layers: int) -> None:
    torch.manual_seed(0)
    encoder = Encoder(C, num_layers, H, dropout=0.0).double()
    inputs = torch.randn(B, T, C, dtype=torch.float64)
    expected = inputs
    for layer in encoder.layers:
        assert isinstance(layer, EncoderLayer)
        expected = encoder_layer(layer, expected)
    actual = encoder(inputs)
    assert actual.shape == (B, C)
    torch.testing.assert_close(actual, expected[:, -1], rtol=0, atol=1e-12)


def test_the_last_bar_attends_to_every_bar() -> None:
    torch.manual_seed(0)
    encoder = Encoder(C, 2, H, dropout=0.0).double()
    inputs = torch.randn(B, T, C, dtype=torch.float64, requires_grad=True)
    (gradient,) = torch.autograd.grad(encoder(inputs)[0].square().sum(), inputs)
    assert torch.all(gradient[0].abs().sum(dim=-1) > 0)
    assert torch.all(gradient[1:] == 0)


def test_a_key_bias_would_change_nothing() -> None:
    torch.manual_seed(0)
    query, key, value = torch.randn(3, B, H, T, C // H, dtype=torch.float64)
    attend = torch.nn.functional.scaled_dot_product_attention
    moved = attend(query, key + torch.randn(H, 1, C // H, dtype=torch.float64), value)
    torch.testing.assert_close(moved, attend(query, key, value), rtol=0, atol=1e-12)
