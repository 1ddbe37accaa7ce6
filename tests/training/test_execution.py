import logging
from dataclasses import replace

import pytest
import torch
from torch import nn
from training.small import CONFIG, random_batch, recipe, small

from candlecast.training.execution import make_execution, warn_of_batch_norm
from candlecast.training.loop import train
from candlecast.training.state import new_state
from candlecast.windows.dataset import WindowDataset
from candlecast.windows.store import WindowStore


@pytest.mark.parametrize(
    ("norm", "micro_batch", "warns"), [("batch", 8, 1), ("batch", 16, 0), ("layer", 8, 0)]
)
def test_batch_norm_with_few_windows_is_warned_of(
    caplog: pytest.LogCaptureFixture, norm: str, micro_batch: int, warns: int
) -> None:
    with caplog.at_level(logging.WARNING):
        warn_of_batch_norm(small(norm), micro_batch)
    assert len(caplog.records) == warns
    if warns:
        assert "accum.micro_batch = 8 windows at a time" in caplog.text


def test_batch_norms_running_statistics_move_once_a_micro_batch_not_once_an_update() -> None:
    """What accumulation cannot repair: eight micro-batches leave other statistics than one large batch."""
    batch = random_batch(32)
    norms = []
    for size in (4, 32):
        model = small("batch", dtype=torch.float64)
        for start in range(0, 32, size):
            model(batch.inputs[start : start + size])
        assert isinstance(model.norm, nn.BatchNorm1d)
        norms.append(model.norm)
    assert [norm.num_batches_tracked.item() for norm in norms] == [8, 1]
    remembered = [0.9**8, 0.9]  # of the initial variance of 1, at momentum 0.1
    for norm, kept in zip(norms, remembered, strict=True):
        spread = (norm.running_var - kept) / (1 - kept)  # what the batches themselves said
        assert (spread > 0).all()
    assert not torch.allclose(norms[0].running_var, norms[1].running_var, rtol=0.05)


def test_the_kernels_switches_follow_the_parameters() -> None:
    state = new_state(small(), recipe())
    for wanted in (True, False):
        make_execution(state, replace(CONFIG, cudnn_benchmark=wanted, tf32=wanted))
        assert torch.backends.cudnn.benchmark == wanted
        assert torch.backends.cudnn.allow_tf32 == wanted
        assert torch.backends.cuda.matmul.allow_tf32 == wanted


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_compiled_model_trains_to_the_same_weights(store: WindowStore) -> None:
    weights = []
    for compiled in (False, True):
        model = small()
        sets = WindowDataset(store, "train"), WindowDataset(store, "validation")
        config = replace(CONFIG, compile=compiled, epochs=1, noise_every=2)
        result = train(model, *sets, recipe(config))
        assert any(record.noise is not None for record in result.updates)
        weights.append(model.state_dict())
    for name, tensor in weights[0].items():
        torch.testing.assert_close(tensor, weights[1][name], rtol=1e-4, atol=1e-6)
