import pytest
import torch

from candlecast.models.layers import ChannelDropout, NormKind, make_norm

B, T, C = 400, 5, 12


def test_dropout_drops_whole_channels_of_a_window_and_keeps_the_mean() -> None:
    torch.manual_seed(0)
    outputs = ChannelDropout(0.25)(torch.ones(B, T, C))
    assert sorted(outputs.unique().tolist()) == pytest.approx([0.0, 4 / 3])
    assert torch.all(outputs == outputs[:, :1])
    assert outputs.mean().item() == pytest.approx(1.0, abs=0.03)
    assert outputs[:, 0].std(dim=0).min() > 0.4


def test_norm_starts_with_mean_zero_and_variance_one_over_what_it_normalises() -> None:
    torch.manual_seed(0)
    inputs = 3 + 2 * torch.randn(B, T, C)
    over: dict[NormKind, tuple[int, ...]] = {"layer": (2,), "batch": (0, 1)}
    for kind, axes in over.items():
        outputs = make_norm(kind, C)(inputs)
        assert outputs.shape == inputs.shape
        assert outputs.mean(dim=axes).abs().max() < 1e-5
        assert (outputs.var(dim=axes, correction=0) - 1).abs().max() < 1e-3


def test_group_norm_normalises_groups_of_channels_over_all_bars() -> None:
    torch.manual_seed(0)
    outputs = make_norm("group", C)(3 + 2 * torch.randn(B, T, C)).unflatten(-1, (4, 3))
    assert outputs.mean(dim=(1, 3)).abs().max() < 1e-5
    assert (outputs.var(dim=(1, 3), correction=0) - 1).abs().max() < 1e-3
