"""The end-to-end proof: the pipeline finds skill that was planted in a market, and none where none was."""

import datetime
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
import torch
from training.small import CONFIG, recipe

from candlecast.data.snapshot import take_snapshot
from candlecast.data.synthetic import planted_correlation
from candlecast.evaluation.baselines import baseline_forecasts
from candlecast.evaluation.evaluate import MODEL, select
from candlecast.evaluation.evidence import Evidence, gather_evidence
from candlecast.evaluation.forecast import forecast
from candlecast.features.build import build_features
from candlecast.features.target import forward_log_return
from candlecast.models.config import ModelConfig
from candlecast.models.hybrid import build_model
from candlecast.report.verdict import answer
from candlecast.settings import load_settings
from candlecast.training.loop import train
from candlecast.windows.dataset import WindowDataset
from candlecast.windows.panel import Panel
from candlecast.windows.store import WindowStore

HORIZON, TICKERS, BARS = 2, 8, 1000
NETWORK = ModelConfig(
    width=16,
    tcn_blocks=2,
    kernel_size=3,
    layers=1,
    heads=2,
    dropout=0.0,
    norm="layer",
    checkpoint_activations=False,
)


def market(signal: float) -> WindowStore:
    """Return the windows of a synthetic market with this correlation planted."""
    settings = load_settings(Path(__file__).parents[2] / "params.yaml")
    data = replace(
        settings.data,
        source="synthetic",
        start=datetime.date(2005, 1, 1),
        synthetic=replace(settings.data.synthetic, tickers=TICKERS, bars=BARS, signal=signal),
    )
    features = build_features(take_snapshot(data).bars, settings.features)
    panel = Panel.from_frame(features, forward_log_return(features, HORIZON), HORIZON)
    windows = replace(
        settings.windows,
        length=24,
        horizon=HORIZON,
        test_start=panel.date.max().astype(object) - datetime.timedelta(420),
        validation_days=120,
        stride=2,
    )
    return WindowStore.build(panel, windows)


def judged(signal: float) -> tuple[Evidence, pl.DataFrame]:
    """Train on the market, and return the evidence and the network's test forecasts."""
    torch.set_num_threads(1)
    torch.manual_seed(3)
    settings = load_settings(Path(__file__).parents[2] / "params.yaml")
    store = market(signal)
    model = build_model(NETWORK, len(store.panel.feature_names), store.length)
    budget = replace(CONFIG, epochs=4, peak_lr=2e-3, validate_every=1500)
    train_set, validation_set = (WindowDataset(store, part) for part in ("train", "validation"))
    result = train(model, train_set, validation_set, recipe(budget, micro_batch=32, steps=1))
    model.load_state_dict(result.best_state)
    baselines = replace(settings.baselines, summary_bars=(8,), boosting_iterations=20)
    everyone = pl.concat([forecast(model, store, "test", 256), baseline_forecasts(store, baselines, 1)])
    config = replace(settings.evaluate, bootstrap_replications=300)
    evidence = gather_evidence(everyone, store.standardizer.target_mean, HORIZON, config, trials=1, seed=5)
    return evidence, select(everyone, MODEL, "test")


@pytest.mark.slow
def test_planted_skill_is_found() -> None:
    evidence, _ = judged(signal=0.5)
    called = next(claim for claim in evidence.claims if claim.family == "direction")
    accuracy = evidence.score("directional_accuracy")
    correlation = evidence.score("pooled_information_coefficient_score")
    assert called.adjusted < 0.001
    assert accuracy.interval.low > 0.5
    # No forecast from the bars can know more than the planted momentum itself does.
    assert (
        0.3 * planted_correlation(0.5, HORIZON) < correlation.value < 1.1 * planted_correlation(0.5, HORIZON)
    )


@pytest.mark.slow
def test_no_skill_is_found_where_none_was_planted() -> None:
    evidence, _ = judged(signal=0.0)
    called = next(claim for claim in evidence.claims if claim.family == "direction")
    assert called.adjusted > 0.01
    assert evidence.score("directional_accuracy").gain <= 0
    assert evidence.score("out_of_sample_r2_score").gain <= 0
    assert "Better" not in answer(evidence)
