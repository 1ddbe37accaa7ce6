"""Small forecasters, batches and stores: training's mathematics does not depend on their size."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import torch
from parameters import ROOT
from torch import Tensor, nn

from candlecast.models.hybrid import Forecast
from candlecast.params import load_params
from candlecast.training.config import AccumConfig, Recipe, TrainConfig
from candlecast.training.records import UpdateRecord
from candlecast.windows.batch import Batch
from candlecast.windows.panel import Panel
from candlecast.windows.scaling import Standardizer
from candlecast.windows.split import Split
from candlecast.windows.store import WindowStore

LENGTH, FEATURES = 5, 3  # bars, indicators

# What differs from the committed parameters, so that a key added there needs no second copy here.
CONFIG = replace(
    load_params("train", TrainConfig, ROOT / "params.yaml"),
    epochs=2,
    peak_lr=1e-2,
    final_lr_fraction=0.1,
    warmup_fraction=0.2,
    beta2=0.99,
    precision="fp32",
    validate_every=40,
    log_every=3,
    noise_every=None,
    checkpoint_seconds=1e9,
)


def recipe(config: TrainConfig = CONFIG, micro_batch: int = 4, steps: int = 3, seed: int = 7) -> Recipe:
    accum = AccumConfig(micro_batch=micro_batch, steps=steps, effective_batch=None)
    return Recipe(train=config, accum=accum, seed=seed)


class Small(nn.Module):
    """A convolution, a norm, a non-linearity and the two heads. `norm`: layer, group, batch or none."""

    def __init__(self, norm: str = "layer", dropout: float = 0.0, width: int = 8) -> None:
        super().__init__()
        self.conv = nn.Conv1d(FEATURES, width, kernel_size=3)
        norms: dict[str, nn.Module] = {
            "layer": nn.LayerNorm(width),
            "group": nn.GroupNorm(2, width),
            "batch": nn.BatchNorm1d(width),
            "none": nn.Identity(),
        }
        self.norm, self.kind = norms[norm], norm
        self.dropout = nn.Dropout(dropout)
        self.mean_head = nn.Linear(width, 1)
        self.direction_head = nn.Linear(width, 1)

    def forward(self, inputs: Tensor) -> Forecast:
        hidden = self.conv(inputs.transpose(1, 2))  # [B, width, bars]
        if self.kind == "layer":
            hidden = self.norm(hidden.transpose(1, 2)).transpose(1, 2)
        else:
            hidden = self.norm(hidden)
        hidden = self.dropout(torch.tanh(hidden).mean(dim=2))
        return Forecast(self.mean_head(hidden).squeeze(-1), self.direction_head(hidden).squeeze(-1))


def small(norm: str = "layer", dropout: float = 0.0, dtype: torch.dtype = torch.float32) -> Small:
    torch.manual_seed(0)
    return Small(norm, dropout).to(dtype)


def random_batch(windows: int, seed: int = 0, dtype: torch.dtype = torch.float64) -> Batch:
    """Windows of noise, each with its own weight."""
    generator = torch.Generator().manual_seed(seed)
    draw = torch.randn(windows, LENGTH, FEATURES, generator=generator, dtype=dtype)
    target = torch.randn(windows, generator=generator, dtype=dtype)
    weight = 0.25 + torch.rand(windows, generator=generator, dtype=dtype)
    return Batch(draw, target, (target > 0).to(dtype), weight, torch.arange(windows))


def small_store(bars: int = 90, seed: int = 3) -> WindowStore:
    """Two tickers whose next return leans on the last bar's first indicator; a tenth of a signal."""
    random = np.random.default_rng(seed)
    rows = 2 * bars
    features = random.standard_normal((rows, FEATURES)).astype(np.float32)
    target = 0.1 * features[:, 0].astype(np.float64) + random.standard_normal(rows)
    session = np.tile(np.arange(bars, dtype=np.int32), 2)
    ticker = np.repeat(np.arange(2, dtype=np.int32), bars)
    target[session >= bars - 1] = np.nan
    panel = Panel(
        features=features,
        target=target,
        date=np.datetime64("2001-01-01") + session.astype("timedelta64[D]"),
        session=session,
        ticker=ticker,
        segment=np.zeros(rows, dtype=np.int32),
        tickers=("AAA", "BBB"),
        feature_names=("first", "second", "third"),
        horizon=1,
    )
    ends = panel.window_ends(LENGTH)
    ends = ends[np.isfinite(target[ends])]
    cuts = np.array([0.6, 0.8]) * bars
    parts = [ends[np.digitize(session[ends], cuts) == part] for part in range(3)]
    split = Split(*parts, boundaries={}, fold=0, folds=1)
    scale = Standardizer.fit(panel, split, LENGTH, clip=8.0)
    return WindowStore(panel, split, scale, LENGTH)


class Recorder:
    """An observer that keeps everything it is told, in order."""

    def __init__(self) -> None:
        self.told: list[object] = []
        self.updates: list[UpdateRecord] = []

    def on_start(self, told: object) -> None:
        self.told.append(told)

    def on_updates(self, records: Sequence[UpdateRecord]) -> None:
        self.told.append(records)
        self.updates += records

    on_validation = on_event = on_end = on_start
