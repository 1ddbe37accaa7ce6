"""The whole claim, end to end: 16 x 8 and 128 x 1 are the same training, whatever is asked of it."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
import torch
from training.small import CONFIG, FEATURES, LENGTH, recipe, small_store

from candlecast.evaluation.forecast import forecast
from candlecast.models.config import ModelConfig
from candlecast.models.hybrid import build_model
from candlecast.training.loop import TrainingResult, train
from candlecast.windows.dataset import WindowDataset
from candlecast.windows.store import WindowStore

MODEL = ModelConfig(
    width=16,
    tcn_blocks=2,
    kernel_size=3,
    layers=2,
    heads=2,
    dropout=0.0,
    norm="layer",
    checkpoint_activations=False,
)


def epoch(store: WindowStore, micro_batch: int, steps: int) -> tuple[TrainingResult, pl.DataFrame]:
    """Train one epoch of the real network in float32; return it and its forecasts of the test part."""
    torch.manual_seed(11)
    model = build_model(MODEL, FEATURES, LENGTH)
    sets = WindowDataset(store, "train"), WindowDataset(store, "validation")
    config = replace(CONFIG, epochs=1, peak_lr=1e-3, validate_every=128)
    result = train(model, *sets, recipe(config, micro_batch=micro_batch, steps=steps))
    model.load_state_dict(result.best_state)
    return result, forecast(model, store, "test", batch=32)


def test_16_x_8_and_128_x_1_end_with_the_same_curve_and_the_same_test_forecasts() -> None:
    torch.set_num_threads(1)
    store = small_store(bars=905)
    assert len(store.split.train) % 128 % 16 != 0  # a short last effective batch with a ragged end
    accumulated, ours = epoch(store, micro_batch=16, steps=8)
    at_once, theirs = epoch(store, micro_batch=128, steps=1)

    assert [record.micro_step for record in accumulated.updates[:2]] == [8, 16]
    assert [record.micro_step for record in at_once.updates[:2]] == [1, 2]
    for one, other in zip(accumulated.updates, at_once.updates, strict=True):
        assert one.loss == pytest.approx(other.loss, rel=1e-4)
    for one, other in zip(accumulated.validations, at_once.validations, strict=True):
        assert one.loss == pytest.approx(other.loss, rel=1e-4)
    assert ours.select("ticker", "date").equals(theirs.select("ticker", "date"))
    # Relative to the spread of the forecasts: single ones pass through zero.
    for column in ("forecast_return", "probability_up"):
        first, second = ours[column].to_numpy(), theirs[column].to_numpy()
        assert np.abs(first - second).max() <= 1e-4 * np.abs(second).max()
