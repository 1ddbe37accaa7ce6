"""Forecasts for a universe: all tickers in one batch beside one ticker after another.

    python -m benchmarks.inference [--tickers 500] [--rounds 2] [--json FILE]

From raw bars to forecasts: features, windows, the network of params.yaml with random weights. Both arms give
the same forecasts, which is checked before anything counts. Rounds alternate; the least of each counts. The
loop's model is loaded once: what it pays for is a query, a panel and a forward pass a ticker.
"""

import argparse
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import polars as pl
import torch
from benchmarks.ratios import Ratio, leave

from candlecast.data.config import SyntheticConfig
from candlecast.data.snapshot import take_snapshot
from candlecast.features.build import build_features
from candlecast.features.target import forward_log_return
from candlecast.forecasting.card import Card, Proof, Spans
from candlecast.forecasting.forecaster import Forecaster, save_forecaster
from candlecast.models.hybrid import build_model
from candlecast.settings import Settings, load_settings
from candlecast.training.artifact import ModelDescription, save_model
from candlecast.windows.panel import Panel
from candlecast.windows.store import WindowStore

GOAL = 20.0


@dataclass(frozen=True)
class Seconds:
    wall: float
    processor: float


def universe(settings: Settings, tickers: int, bars: int) -> pl.DataFrame:
    synthetic = SyntheticConfig(tickers=tickers, bars=bars, signal=0.0, seed=1)
    data = replace(settings.data, source="synthetic", tickers=(), synthetic=synthetic, min_bars=1)
    return take_snapshot(data).bars


def make_forecaster(settings: Settings, root: Path) -> Forecaster:
    """Return a forecaster of the committed size, its scale fitted on a few synthetic shares."""
    features = build_features(universe(settings, 3, 3000), settings.features)
    horizon = settings.windows.horizon
    panel = Panel.from_frame(features, forward_log_return(features, horizon), horizon)
    store = WindowStore.build(panel, settings.windows)
    torch.manual_seed(settings.seed)
    model = build_model(settings.model, len(panel.feature_names), store.length)
    description = ModelDescription(
        model=settings.model, feature_names=panel.feature_names, length=store.length
    )
    save_model(root / "model", model.state_dict(), description)
    card = Card(
        features=settings.features,
        checks=settings.data.checks,
        max_gap=settings.data.max_gap,
        horizon=horizon,
        tickers=panel.tickers,
        spans=Spans(**store.split.boundaries),
        run_id="",
        proof=Proof(answer="random weights", skills=(), confidence=None, windows=0, scores=()),
    )
    save_forecaster(root / "forecaster", root / "model", store.standardizer, card)
    return Forecaster.load(root / "forecaster")


def timed(work: Callable[[], pl.DataFrame]) -> tuple[Seconds, pl.DataFrame]:
    wall, processor = time.perf_counter(), time.process_time()
    result = work()
    return Seconds(time.perf_counter() - wall, time.process_time() - processor), result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--tickers", type=int, default=500)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    settings = load_settings()
    with tempfile.TemporaryDirectory() as folder:
        forecaster = make_forecaster(settings, Path(folder))
    bars = universe(settings, arguments.tickers, forecaster.bars_needed)
    alone = bars.partition_by("ticker", maintain_order=True)
    arms = {
        "one batch": lambda: forecaster.latest(bars),
        "ticker by ticker": lambda: pl.concat(forecaster.latest(each) for each in alone),
    }
    results: dict[str, list[Seconds]] = {name: [] for name in arms}
    for _ in range(arguments.rounds):
        frames = []
        for name, work in arms.items():
            taken, frame = timed(work)
            results[name].append(taken)
            frames.append(frame)
        difference = (frames[0]["forecast_return"] - frames[1]["forecast_return"]).abs().max()
        assert difference < 1e-6, difference
    least = {
        name: Seconds(min(each.wall for each in taken), min(each.processor for each in taken))
        for name, taken in results.items()
    }
    for name, taken in least.items():
        a_second = arguments.tickers / taken.wall
        print(
            f"{name:18}{taken.wall:7.2f} s, {taken.processor:7.2f} s of processor, {a_second:,.0f} tickers/s"
        )
    ratios = [
        Ratio(
            what=f"forecasts for {arguments.tickers} tickers, one batch",
            against=f"ticker by ticker, {unit}",
            value=getattr(least["ticker by ticker"], kind) / getattr(least["one batch"], kind),
            goal=GOAL,
        )
        for unit, kind in (("seconds", "wall"), ("processor seconds", "processor"))
    ]
    figures = {name: [[each.wall, each.processor] for each in taken] for name, taken in results.items()}
    leave(arguments.json, ratios, {"wall and processor seconds": figures})


if __name__ == "__main__":
    main()
