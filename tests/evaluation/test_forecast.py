import datetime
from typing import NamedTuple

import numpy as np
import polars as pl
import pytest
import torch
from torch import Tensor, nn

from candlecast.errors import EvaluationError
from candlecast.evaluation.forecast import forecast
from candlecast.evaluation.forward import forecast_rows
from candlecast.schema import FORECASTS
from candlecast.windows.config import WindowsConfig
from candlecast.windows.panel import Panel
from candlecast.windows.store import WindowStore

LENGTH, FEATURES, DAYS = 7, 3, 120


class Pair(NamedTuple):
    mean: Tensor
    direction_logit: Tensor


class LastBar(nn.Module):
    """Forecasts the first feature of the last bar, with dropout to be switched off, and batch statistics."""

    def __init__(self):
        super().__init__()
        self.dropout = nn.Dropout(0.5)
        self.norm = nn.BatchNorm1d(FEATURES)
        self.weight = nn.Parameter(torch.ones(()))

    def forward(self, inputs: Tensor) -> Pair:
        assert inputs.shape[1:] == (LENGTH, FEATURES)
        last = self.dropout(self.norm(inputs[:, -1]))
        return Pair(last[:, 0] * self.weight, last[:, 1] + last[:, 2])


@pytest.fixture
def store() -> WindowStore:
    generator = np.random.default_rng(3)
    frame = pl.DataFrame(
        {
            "ticker": ["A"] * DAYS + ["B"] * DAYS,
            "date": [datetime.date(2010, 1, 1) + datetime.timedelta(day) for day in range(DAYS)] * 2,
            "segment": np.zeros(2 * DAYS, dtype=np.int32),
            "close": np.ones(2 * DAYS),
            **{f"f{index}": generator.normal(size=2 * DAYS).astype(np.float32) for index in range(FEATURES)},
        }
    )
    target = generator.normal(0.01, 0.03, 2 * DAYS)
    target[DAYS - 2 : DAYS] = target[-2:] = np.nan
    config = WindowsConfig(
        length=LENGTH,
        horizon=2,
        test_start=datetime.date(2010, 4, 1),
        validation_days=20,
        folds=1,
        fold=0,
        embargo=0,
        stride=1,
        clip=8.0,
    )
    return WindowStore.build(Panel.from_frame(frame, pl.Series(target).fill_nan(None), 2), config)


def test_there_is_one_row_a_window_in_the_schema(store):
    for part in ("validation", "test"):
        frame = forecast(LastBar(), store, part, 16)
        assert frame.schema == FORECASTS
        assert frame.height == len(store.split.part(part))
        assert set(frame["part"]) == {part}
        assert not frame.select("ticker", "date").is_duplicated().any()


def test_each_row_is_its_own_windows_forecast_in_log_return(store):
    model = LastBar()
    frame = forecast(model, store, "test", 16)
    for row, end in zip(frame.iter_rows(named=True), store.split.test, strict=True):
        assert row["ticker"] == store.panel.tickers[store.panel.ticker[end]]
        assert row["date"] == store.panel.date[end].astype(object)
        assert row["realised_return"] == store.panel.target[end]
        last = store.panel.features[end].astype(float) / np.sqrt(1 + 1e-5)
        expected = last[0] * store.standardizer.target_std + store.standardizer.target_mean
        assert row["forecast_return"] == pytest.approx(expected, rel=1e-5)
        assert row["probability_up"] == pytest.approx(1 / (1 + np.exp(-last[1] - last[2])), rel=1e-5)


@pytest.mark.parametrize("batch", [1, 5, 16, 1000])
def test_no_forecast_depends_on_the_batch_size(store, batch):
    whole, other = forecast(LastBar(), store, "test", 64), forecast(LastBar(), store, "test", batch)
    assert whole.select("ticker", "date").equals(other.select("ticker", "date"))
    for name in ("forecast_return", "probability_up"):
        assert np.allclose(whole[name], other[name], rtol=1e-6, atol=0)


def test_the_model_keeps_its_mode_and_its_statistics(store):
    model = LastBar().train()
    before = model.norm.running_mean.clone()
    forecast(model, store, "test", 16)
    assert model.training
    assert torch.equal(before, model.norm.running_mean)


def test_the_newest_windows_can_be_forecast_before_their_outcome_is_known(store):
    ends = store.panel.window_ends(LENGTH)
    newest = ends[~np.isfinite(store.panel.target[ends])]
    frame = forecast_rows(LastBar(), store, newest, 3)
    assert frame.columns == ["ticker", "date", "forecast_return", "probability_up"]
    assert frame.height == len(newest) == 4


def test_a_forecast_that_is_not_finite_is_named(store):
    model = LastBar()
    with torch.no_grad():
        model.weight.fill_(torch.nan)
    with pytest.raises(
        EvaluationError, match=r"A on 2010-04-.*not finite \(\d+ of \d+ windows\).*train\.peak_lr"
    ):
        forecast(model, store, "test", 16)
