"""Batches of windows: this project's views against torch's DataLoader of items, side by side in one process.

    python -m benchmarks.batches [--json FILE]

All give the same windows in the same order, checked before the clock starts. A DataLoader's items are views
here, the quickest there are, and once arrays made into tensors one by one, the usual way. Rounds alternate,
so that another load on the machine hits all; the ratio is of the medians. Then what the windows stage
stores, for 500 tickers x 2,500 bars, beside the windows written out.
"""

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import torch
from benchmarks.ratios import Ratio, leave
from torch import Tensor
from torch.utils.data import DataLoader, Dataset

from candlecast.windows.config import WindowsConfig
from candlecast.windows.dataset import WindowDataset
from candlecast.windows.panel import Panel
from candlecast.windows.sampler import effective_batches, epoch_order
from candlecast.windows.store import WindowStore, load_windows

LENGTH, FEATURES, HORIZON, BATCH = 256, 32, 5, 128
Item = tuple[Tensor, Tensor, Tensor, Tensor]


class ItemDataset(Dataset[Item]):
    """One window at a time, for the DataLoader to collate: a view, or with `copies` a tensor of its own."""

    def __init__(self, store: WindowStore, *, copies: bool = False) -> None:
        self.copies = copies
        ends = store.split.train
        self.panel = torch.from_numpy(store.panel.features)
        self.ends = ends.tolist()
        returns = store.panel.target[ends]
        self.target = torch.from_numpy(store.standardizer.standardise_target(returns).astype(np.float32))
        self.direction = torch.from_numpy((returns > 0).astype(np.float32))
        self.rows = torch.from_numpy(ends)

    def __len__(self) -> int:
        return len(self.ends)

    def __getitem__(self, index: int) -> Item:
        end = self.ends[index]
        window = self.panel[end + 1 - LENGTH : end + 1]
        if self.copies:
            window = torch.tensor(window.numpy())
        return window, self.target[index], self.direction[index], self.rows[index]


def random_store(tickers: int, bars: int) -> WindowStore:
    random = np.random.default_rng(0)
    rows = tickers * bars
    log_price = random.normal(0, 0.02, (tickers, bars)).cumsum(axis=1)
    target = np.full((tickers, bars), np.nan)
    target[:, :-HORIZON] = log_price[:, HORIZON:] - log_price[:, :-HORIZON]
    dates = np.datetime64("2000-03-01") + np.arange(bars)
    panel = Panel(
        features=random.standard_normal((rows, FEATURES), dtype=np.float32),
        target=target.ravel(),
        date=np.tile(dates, tickers),
        session=np.tile(np.arange(bars, dtype=np.int32), tickers),
        ticker=np.repeat(np.arange(tickers, dtype=np.int32), bars),
        segment=np.zeros(rows, dtype=np.int32),
        tickers=tuple(f"T{index:03d}" for index in range(tickers)),
        feature_names=tuple(f"feature_{index}" for index in range(FEATURES)),
        horizon=HORIZON,
    )
    config = WindowsConfig(
        length=LENGTH,
        horizon=HORIZON,
        test_start=dates[-504].item(),
        validation_days=252,
        folds=1,
        fold=0,
        embargo=0,
        stride=1,
        clip=8.0,
    )
    return WindowStore.build(panel, config)


def views(store: WindowStore, order: Tensor) -> Iterator[Item]:
    for batch in effective_batches(WindowDataset(store, "train"), order, BATCH):
        yield batch.inputs, batch.target, batch.direction, batch.rows


def loader(store: WindowStore, order: Tensor, workers: int, *, copies: bool = False) -> Iterator[Item]:
    items = ItemDataset(store, copies=copies)
    return iter(DataLoader(items, BATCH, sampler=order.tolist(), num_workers=workers))


def windows_per_second(batches: Iterator[Item]) -> float:
    """Start the clock after the first batch: a worker's start is paid once an epoch, not once a batch."""
    next(batches)
    start, windows = time.perf_counter(), 0
    for inputs, *_ in batches:
        windows += len(inputs)
    return windows / (time.perf_counter() - start)


def compare(store: WindowStore, batches: int, rounds: int) -> dict[str, dict[str, float]]:
    order = epoch_order(len(store.split.train), seed=0, epoch=0)[: BATCH * batches]
    ways: dict[str, Callable[[], Iterator[Item]]] = {
        "views": lambda: views(store, order),
        "DataLoader of views, 0 workers": lambda: loader(store, order, 0),
        "DataLoader of views, 2 workers": lambda: loader(store, order, 2),
        "DataLoader of copies, 0 workers": lambda: loader(store, order, 0, copies=True),
        "DataLoader of copies, 2 workers": lambda: loader(store, order, 2, copies=True),
    }
    for copies in (False, True):
        theirs = loader(store, order[:512], 0, copies=copies)
        for our, their in zip(views(store, order[:512]), theirs, strict=True):
            assert all(torch.equal(left, right) for left, right in zip(our, their, strict=True))
    speeds: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(rounds):
        for name, make in ways.items():
            speeds[name].append(windows_per_second(make()))
    medians = {name: statistics.median(values) for name, values in speeds.items()}
    return {
        name: {
            "windows_per_second": median,
            "lowest": min(speeds[name]),
            "highest": max(speeds[name]),
            "views_are_times_faster": medians["views"] / median,
        }
        for name, median in medians.items()
    }


def sizes(store: WindowStore, folder: Path) -> dict[str, float]:
    stored = sum(path.stat().st_size for path in folder.iterdir())
    windows = sum(len(store.split.part(part)) for part in ("train", "validation", "test"))
    written_out = windows * LENGTH * FEATURES * 4
    return {
        "windows": windows,
        "stored_bytes": stored,
        "written_out_bytes": written_out,
        "times_smaller": written_out / stored,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tickers", type=int, default=500)
    parser.add_argument("--bars", type=int, default=2500)
    parser.add_argument("--batches", type=int, default=200, help="batches in a round")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", type=Path, help="write the figures there")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        windows = Path(folder) / "windows"
        random_store(options.tickers, options.bars).save(windows)
        store = load_windows(windows)
        result = {
            "batch": BATCH,
            "speed": compare(store, options.batches, options.rounds),
            "size": sizes(store, windows),
        }
    print(
        f"{BATCH} windows of {LENGTH} bars x {FEATURES} features a batch, {torch.get_num_threads()} threads"
    )
    for name, speed in result["speed"].items():
        print(
            f"{name:<34}{speed['windows_per_second']:>10,.0f} windows/s "
            f"({speed['lowest']:,.0f} to {speed['highest']:,.0f}), views are "
            f"{speed['views_are_times_faster']:.1f} x as fast"
        )
    size = result["size"]
    print(
        f"stored {size['stored_bytes'] / 1e6:,.0f} MB for {size['windows']:,} windows, written out they are "
        f"{size['written_out_bytes'] / 1e9:,.1f} GB: {size['times_smaller']:.0f} x smaller"
    )
    ratios = [
        Ratio(
            what=f"batches of {BATCH} windows",
            against=name,
            value=speed["views_are_times_faster"],
            goal=10,
        )
        for name, speed in result["speed"].items()
        if name != "views"
    ]
    ratios.append(
        Ratio(
            what=f"window storage, {options.tickers} tickers x {options.bars:,} bars",
            against="windows written out",
            value=1 / size["times_smaller"],
            goal=1 / 200,
            reached="at most",
        )
    )
    leave(options.json, ratios, result)


if __name__ == "__main__":
    main()
