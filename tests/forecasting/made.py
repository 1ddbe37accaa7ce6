"""A forecaster with random weights and the bars, windows and card it belongs to."""

from dataclasses import dataclass
from pathlib import Path

import polars as pl
import torch
from forecasting.made_bars import made_bars
from parameters import ROOT, SMALL_MODEL

from candlecast.data.config import ChecksConfig, DataConfig
from candlecast.features.build import build_features
from candlecast.features.config import FeaturesConfig
from candlecast.features.target import forward_log_return
from candlecast.forecasting.card import Card, Measured, Proof, Spans
from candlecast.forecasting.forecaster import Forecaster, save_forecaster
from candlecast.models.hybrid import build_model
from candlecast.params import load_params
from candlecast.training.artifact import ModelDescription, save_model
from candlecast.windows.config import WindowsConfig
from candlecast.windows.panel import Panel
from candlecast.windows.store import WindowStore

LENGTH, HORIZON, WARMUP = 16, 3, 70


@dataclass(frozen=True)
class Made:
    """What the pipeline would have left."""

    folder: Path
    bars: pl.DataFrame
    store: WindowStore
    forecaster: Forecaster


def made_checks() -> ChecksConfig:
    return load_params("data", DataConfig, ROOT / "params.yaml").checks


def made_proof() -> Proof:
    accuracy = Measured(
        name="directional_accuracy",
        value=0.541,
        low=0.475,
        high=0.609,
        baseline="training_mean",
        difference=0.0,
        difference_low=-0.01,
        difference_high=0.02,
    )
    answer = "No skill beyond the baselines that this test span can tell from luck."
    return Proof(answer=answer, skills=(), confidence=0.95, windows=1996, scores=(accuracy,))


def make_forecaster(root: Path) -> Made:
    """Three tickers of 260 bars, and a network nobody trained."""
    features_config = FeaturesConfig(
        families=("trend", "momentum", "volatility", "volume"), warmup_bars=WARMUP
    )
    bars = made_bars(tickers=("AAA", "BBB", "CCC"), num_bars=260)
    features = build_features(bars, features_config)
    panel = Panel.from_frame(features, forward_log_return(features, HORIZON), HORIZON)
    config = WindowsConfig(
        length=LENGTH,
        horizon=HORIZON,
        test_start=panel.date[220].item(),
        validation_days=40,
        folds=1,
        fold=0,
        embargo=0,
        stride=1,
        clip=8.0,
    )
    store = WindowStore.build(panel, config)
    torch.manual_seed(5)
    model = build_model(SMALL_MODEL, len(panel.feature_names), LENGTH)
    description = ModelDescription(model=SMALL_MODEL, feature_names=panel.feature_names, length=LENGTH)
    save_model(root / "model", model.state_dict(), description)
    card = Card(
        features=features_config,
        checks=made_checks(),
        max_gap=5,
        horizon=HORIZON,
        tickers=panel.tickers,
        spans=Spans(**store.split.boundaries),
        run_id="0123456789abcdef0123456789abcdef",
        proof=made_proof(),
    )
    folder = root / "forecaster"
    save_forecaster(folder, root / "model", store.standardizer, card)
    return Made(folder, bars, store, Forecaster.load(folder))
