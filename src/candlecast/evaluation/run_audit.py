"""The whole leakage audit on one snapshot: what `candlecast audit` runs."""

from collections.abc import Callable
from dataclasses import dataclass

import polars as pl
import torch

from candlecast.data.manifest import Manifest
from candlecast.evaluation.audit import Audit, Check
from candlecast.evaluation.audit_features import audit_features
from candlecast.evaluation.audit_labels import audit_labels
from candlecast.evaluation.audit_model import audit_model, audit_training, short_training
from candlecast.evaluation.audit_split import audit_split
from candlecast.evaluation.canary import audit_canary
from candlecast.evaluation.forecast import forecast
from candlecast.features.build import build_features
from candlecast.features.config import FeaturesConfig
from candlecast.features.target import forward_log_return
from candlecast.models.config import ModelConfig
from candlecast.models.hybrid import build_model
from candlecast.windows.config import WindowsConfig
from candlecast.windows.panel import Panel
from candlecast.windows.store import WindowStore

MAX_TICKERS = 12  # whose bars are rebuilt again and again; all of them are split, scaled and trained on


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditInputs:
    """What is audited: the snapshot, and the sections of the parameters that act on it."""

    bars: pl.DataFrame  # schema.BARS
    manifest: Manifest
    features: FeaturesConfig
    windows: WindowsConfig
    model: ModelConfig
    seed: int


def run_audit(inputs: AuditInputs, progress: Callable[[str], None] = lambda area: None) -> Audit:
    """Return every check of features, label, split, scale, model, training and canary.

    `progress` is told what is looked at next.
    """
    progress("features")
    tickers = inputs.bars["ticker"].unique().sort()
    step = max(len(tickers) // MAX_TICKERS, 1)
    some = inputs.bars.filter(pl.col("ticker").is_in(tickers.gather_every(step)[:MAX_TICKERS].implode()))
    checks = [audit_universe(inputs.manifest)]
    checks += audit_features(
        some, lambda bars: build_features(bars, inputs.features), inputs.features.warmup_bars, inputs.seed
    )
    progress("label")
    features = build_features(inputs.bars, inputs.features)
    checks += audit_labels(features, forward_log_return, inputs.windows.horizon, inputs.seed)
    progress("split")
    target = forward_log_return(features, inputs.windows.horizon)
    panel = Panel.from_frame(features, target, inputs.windows.horizon)
    checks += audit_split(panel, lambda raw: WindowStore.build(raw, inputs.windows), inputs.windows)
    progress("model")
    store = WindowStore.build(panel, inputs.windows)
    torch.manual_seed(inputs.seed)
    model = build_model(inputs.model, len(panel.feature_names), inputs.windows.length)
    checks += audit_model(model, store, forecast)
    progress("training")
    checks.append(audit_training(store, short_training(inputs.model, inputs.seed)))
    progress("canary")
    checks += audit_canary(panel, inputs.windows, inputs.seed)
    return Audit(tuple(checks))


def audit_universe(manifest: Manifest) -> Check:
    """Return what is known of survivorship: no check of bars can see which shares are missing."""
    return Check("data", "how the tickers were chosen", "note", manifest.universe.words)
