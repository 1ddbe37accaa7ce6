"""What the trainer costs beyond the arithmetic: milliseconds a micro-step of a tiny model.

    python -m benchmarks.trainer_overhead [--rounds 5] [--json FILE]

The same model, loss, optimiser, windows and accumulation (8 windows x 4, clipped) by
- bare: a hand-written loop over this project's batches, with nothing logged
- candlecast: the trainer with counters, noise scale, log, history and progress, as the stage runs it
- loader: a hand-written loop over torch's DataLoader of items
- accelerate, lightning: the same over the DataLoader, each with its own accumulation
Processor time of one thread, so that another load on the machine matters little, and rounds alternate
between them; figures are medians over the rounds. A peer that is not installed is left out, and said so.
"""

import argparse
import importlib.util
import io
import json
import statistics
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader, TensorDataset

from candlecast.models.hybrid import Forecast
from candlecast.params import load_params
from candlecast.training.accumulate import micro_batches
from candlecast.training.config import AccumConfig, Recipe, TrainConfig
from candlecast.training.loop import train
from candlecast.training.loss import window_losses
from candlecast.training.optimizer import make_optimizer
from candlecast.training.progress import Progress
from candlecast.training.records import UpdateRecord
from candlecast.windows.batch import Batch
from candlecast.windows.dataset import WindowDataset
from candlecast.windows.panel import Panel
from candlecast.windows.sampler import effective_batches, epoch_order
from candlecast.windows.scaling import Standardizer
from candlecast.windows.split import Split
from candlecast.windows.store import WindowStore

LENGTH, FEATURES, WIDTH = 32, 8, 16
MICRO, STEPS, UPDATES = 8, 4, 120
WARM = 20  # updates before the clock starts
WINDOWS = MICRO * STEPS * (UPDATES + WARM)


class Tiny(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv, self.deep = nn.Conv1d(FEATURES, WIDTH, 3), nn.Conv1d(WIDTH, WIDTH, 3)
        self.norm = nn.LayerNorm(WIDTH)
        self.mean_head, self.direction_head = nn.Linear(WIDTH, 1), nn.Linear(WIDTH, 1)

    def forward(self, inputs: Tensor) -> Forecast:
        hidden = torch.relu(self.deep(torch.relu(self.conv(inputs.transpose(1, 2)))))
        hidden = self.norm(hidden.mean(dim=2))
        return Forecast(self.mean_head(hidden).squeeze(-1), self.direction_head(hidden).squeeze(-1))


def make_store() -> WindowStore:
    random = np.random.default_rng(0)
    rows = WINDOWS + LENGTH + 40
    panel = Panel(
        features=random.standard_normal((rows, FEATURES)).astype(np.float32),
        target=np.append(random.standard_normal(rows - 1), np.nan),
        date=np.datetime64("1980-01-01") + np.arange(rows),
        session=np.arange(rows, dtype=np.int32),
        ticker=np.zeros(rows, np.int32),
        segment=np.zeros(rows, np.int32),
        tickers=("AAA",),
        feature_names=tuple(f"f{number}" for number in range(FEATURES)),
        horizon=1,
    )
    ends = np.arange(LENGTH - 1, rows - 1)
    split = Split(ends[:WINDOWS], ends[WINDOWS : WINDOWS + 20], ends[-20:], boundaries={}, fold=0, folds=1)
    return WindowStore(panel, split, Standardizer.fit(panel, split, LENGTH, 8.0), LENGTH)


class Clock:
    """Notes the time after the warm-up and at the end, in updates."""

    def __init__(self) -> None:
        self.updates, self.start, self.seconds = 0, 0.0, 0.0

    def tick(self) -> None:
        self.updates += 1
        if self.updates == WARM:
            self.start = time.process_time()
        self.seconds = time.process_time() - self.start

    @property
    def milliseconds(self) -> float:
        return 1000 * self.seconds / ((self.updates - WARM) * STEPS)


class Listener(Progress):
    """The stage's progress, and the clock; the log is flushed every ten updates."""

    def __init__(self, clock: Clock) -> None:
        super().__init__(io.StringIO())
        self.clock = clock

    def on_updates(self, records: list[UpdateRecord]) -> None:
        super().on_updates(records)
        for _ in records:
            self.clock.tick()


def loss_of(model: Callable[[Tensor], Forecast], batch: Batch, config: TrainConfig) -> Tensor:
    return torch.dot(window_losses(model(batch.inputs), batch, config), batch.weight)


def bare(store: WindowStore, recipe: Recipe) -> Clock:
    clock, dataset, model = Clock(), WindowDataset(store, "train"), Tiny()
    optimizer = make_optimizer(model, recipe)
    for batch in effective_batches(dataset, epoch_order(len(dataset), 0, 0), MICRO * STEPS):
        for part in micro_batches(batch, MICRO):
            (loss_of(model, part, recipe.train) / len(batch)).backward()
        nn.utils.clip_grad_norm_(model.parameters(), recipe.train.clip_norm)
        optimizer.step()
        optimizer.zero_grad()
        clock.tick()
    return clock


def candlecast(store: WindowStore, recipe: Recipe) -> Clock:
    clock = Clock()
    sets = WindowDataset(store, "train"), WindowDataset(store, "validation")
    train(Tiny(), *sets, recipe, [Listener(clock)])
    return clock


def loader_of(store: WindowStore) -> DataLoader[tuple[Tensor, ...]]:
    dataset = WindowDataset(store, "train")
    batch = dataset.batch(torch.arange(len(dataset)))
    items = TensorDataset(batch.inputs, batch.target, batch.direction, batch.weight, batch.rows)
    return DataLoader(items, batch_size=MICRO, shuffle=True)


def loader(store: WindowStore, recipe: Recipe) -> Clock:
    clock, model = Clock(), Tiny()
    optimizer = make_optimizer(model, recipe)
    for index, items in enumerate(loader_of(store)):
        (loss_of(model, Batch(*items), recipe.train) / (MICRO * STEPS)).backward()
        if (index + 1) % STEPS == 0:
            nn.utils.clip_grad_norm_(model.parameters(), recipe.train.clip_norm)
            optimizer.step()
            optimizer.zero_grad()
            clock.tick()
    return clock


def accelerate(store: WindowStore, recipe: Recipe) -> Clock:
    from accelerate import Accelerator

    clock, model = Clock(), Tiny()
    engine = Accelerator(gradient_accumulation_steps=STEPS, cpu=True)
    model, optimizer, batches = engine.prepare(model, make_optimizer(model, recipe), loader_of(store))
    for items in batches:
        with engine.accumulate(model):
            engine.backward(loss_of(model, Batch(*items), recipe.train) / MICRO)
            if engine.sync_gradients:
                engine.clip_grad_norm_(model.parameters(), recipe.train.clip_norm)
            optimizer.step()
            optimizer.zero_grad()
        if engine.sync_gradients:
            clock.tick()
    return clock


def lightning(store: WindowStore, recipe: Recipe) -> Clock:
    from lightning.pytorch import LightningModule, Trainer

    clock = Clock()

    class Module(LightningModule):
        def __init__(self) -> None:
            super().__init__()
            self.tiny = Tiny()

        def training_step(self, items: list[Tensor], index: int) -> Tensor:
            return loss_of(self.tiny, Batch(*items), recipe.train) / MICRO

        def configure_optimizers(self) -> torch.optim.Optimizer:
            return make_optimizer(self.tiny, recipe)

        def on_before_zero_grad(self, optimizer: torch.optim.Optimizer) -> None:
            clock.tick()

    engine = Trainer(
        max_epochs=1,
        accelerator="cpu",
        accumulate_grad_batches=STEPS,
        gradient_clip_val=None,  # refused with a fused optimiser: it has less to do than the others
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
    )
    engine.fit(Module(), loader_of(store))
    return clock


def contestants() -> Iterator[tuple[str, Callable[[WindowStore, Recipe], Clock]]]:
    yield from {"bare": bare, "candlecast": candlecast, "loader": loader}.items()
    for name, run in {"accelerate": accelerate, "lightning": lightning}.items():
        if importlib.util.find_spec(name):
            yield name, run
        else:
            print(f"{name}: not installed, left out; pip install -r benchmarks/requirements.txt")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    accum = AccumConfig(micro_batch=MICRO, steps=STEPS, effective_batch=None)
    config = replace(load_params("train", TrainConfig), epochs=1, validate_every=10**9)
    recipe = Recipe(train=config, accum=accum, seed=1)
    store, runs = make_store(), list(contestants())
    times: dict[str, list[float]] = {name: [] for name, _ in runs}
    for _ in range(arguments.rounds):
        for name, run in runs:
            times[name].append(run(store, recipe).milliseconds)
    figures = {name: statistics.median(values) for name, values in times.items()}
    for name, median in figures.items():
        spread = f"{min(times[name]):.3f} to {max(times[name]):.3f}"
        print(f"{name:12}{median:8.3f} ms a micro-step ({spread}), {median / figures['bare']:.2f} x bare")
    if arguments.json:
        arguments.json.write_text(json.dumps({"milliseconds_a_micro_step": times}, indent=2) + "\n")


if __name__ == "__main__":
    main()
