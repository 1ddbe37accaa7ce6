"""The same accumulated training by several trainers, for the benchmarks of cost and of speed.

All take one model, loss, optimiser, effective batch and clipping. They are
- bare: a hand-written loop over this project's batches, with nothing logged
- candlecast: the trainer with counters, noise scale, log, history and progress, as the stage runs it
- loader: a hand-written loop over torch's DataLoader of items
- accelerate, lightning: the same over the DataLoader, each with its own accumulation
"""

import importlib.util
import io
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader, TensorDataset

from candlecast.training.accumulate import micro_batches
from candlecast.training.config import Recipe, TrainConfig
from candlecast.training.loop import train
from candlecast.training.loss import window_losses
from candlecast.training.optimizer import make_optimizer
from candlecast.training.progress import Progress
from candlecast.training.records import TrainingPlan, UpdateRecord
from candlecast.windows.batch import Batch
from candlecast.windows.dataset import WindowDataset
from candlecast.windows.sampler import effective_batches
from candlecast.windows.store import WindowStore


@dataclass(frozen=True, slots=True)
class Seconds:
    """Of the wall's clock and of this process on a processor, an update."""

    wall: float
    processor: float


class Clock:
    """Counts updates, and the seconds of those after the first `warm`."""

    def __init__(self, warm: int = 0) -> None:
        self._warm = warm

    def begin(self) -> None:
        self._updates = 0
        self._start = self._end = (time.perf_counter(), time.process_time())

    def tick(self, updates: int = 1) -> None:
        self._updates += updates
        self._end = (time.perf_counter(), time.process_time())
        if self._updates == self._warm:
            self._start = self._end

    def seconds(self) -> Seconds:
        counted = self._updates - self._warm
        return Seconds(*((end - start) / counted for start, end in zip(self._start, self._end, strict=True)))


class Listener(Progress):
    """The stage's progress, and the clock."""

    def __init__(self, clock: Clock) -> None:
        super().__init__(io.StringIO())
        self.clock = clock

    def on_start(self, plan: TrainingPlan) -> None:
        super().on_start(plan)
        self.clock.begin()

    def on_updates(self, records: Sequence[UpdateRecord]) -> None:
        super().on_updates(records)
        self.clock.tick(len(records))


class Job:
    """What is trained: `updates` effective batches of the recipe, from the start of the training part."""

    def __init__(self, store: WindowStore, recipe: Recipe, updates: int) -> None:
        config = replace(recipe.train, epochs=None, updates=updates, validate_every=2**31 - 1)
        self.recipe = replace(recipe, train=config)
        self.batch, self.micro = recipe.accum.windows_per_update, recipe.accum.windows_per_pass
        self.store, self.updates = store, updates
        self.order = torch.arange(updates * self.batch)
        self.dataset = WindowDataset(store, store.split.train[: len(self.order)])
        self.few = WindowDataset(store, store.split.validation[:1])
        whole = self.dataset.batch(self.order)
        self._items = TensorDataset(whole.inputs, whole.target, whole.direction, whole.weight, whole.rows)

    def with_train(self, config: TrainConfig) -> "Job":
        return Job(self.store, replace(self.recipe, train=config), self.updates)

    def loader(self) -> DataLoader[tuple[Tensor, ...]]:
        return DataLoader(self._items, batch_size=self.micro, shuffle=True)

    def loss_sum(self, model: Callable[[Tensor], Any], batch: Batch) -> Tensor:
        return torch.dot(window_losses(model(batch.inputs), batch, self.recipe.train), batch.weight)


def bare(job: Job, model: nn.Module, clock: Clock) -> None:
    optimizer = make_optimizer(model, job.recipe)
    model.train()
    clock.begin()
    for batch in effective_batches(job.dataset, job.order, job.batch):
        for part in micro_batches(batch, job.micro):
            (job.loss_sum(model, part) / len(batch)).backward()
        nn.utils.clip_grad_norm_(model.parameters(), job.recipe.train.clip_norm)
        optimizer.step()
        optimizer.zero_grad()
        clock.tick()


def candlecast(job: Job, model: nn.Module, clock: Clock) -> None:
    train(model, job.dataset, job.few, job.recipe, [Listener(clock)])


def loader(job: Job, model: nn.Module, clock: Clock) -> None:
    optimizer, steps = make_optimizer(model, job.recipe), job.batch // job.micro
    model.train()
    clock.begin()
    for index, items in enumerate(job.loader()):
        (job.loss_sum(model, Batch(*items)) / job.batch).backward()
        if (index + 1) % steps == 0:
            nn.utils.clip_grad_norm_(model.parameters(), job.recipe.train.clip_norm)
            optimizer.step()
            optimizer.zero_grad()
            clock.tick()


def accelerate(job: Job, model: nn.Module, clock: Clock) -> None:
    from accelerate import Accelerator

    engine = Accelerator(gradient_accumulation_steps=job.batch // job.micro, cpu=True)
    model, optimizer, batches = engine.prepare(model, make_optimizer(model, job.recipe), job.loader())
    model.train()
    clock.begin()
    for items in batches:
        with engine.accumulate(model):
            engine.backward(job.loss_sum(model, Batch(*items)) / job.micro)
            if engine.sync_gradients:
                engine.clip_grad_norm_(model.parameters(), job.recipe.train.clip_norm)
            optimizer.step()
            optimizer.zero_grad()
        if engine.sync_gradients:
            clock.tick()


def lightning(job: Job, model: nn.Module, clock: Clock) -> None:
    from lightning.pytorch import LightningModule, Trainer

    class Module(LightningModule):
        def __init__(self) -> None:
            super().__init__()
            self.model = model

        def on_train_start(self) -> None:
            self.model.train()
            clock.begin()

        def training_step(self, items: list[Tensor], index: int) -> Tensor:
            return job.loss_sum(self.model, Batch(*items)) / job.micro

        def configure_optimizers(self) -> torch.optim.Optimizer:
            return make_optimizer(self.model, job.recipe)

        def on_train_batch_end(self, outputs: Any, batch: Any, index: int) -> None:
            if (index + 1) % self.trainer.accumulate_grad_batches == 0:
                clock.tick()

    engine = Trainer(
        max_epochs=1,
        accelerator="cpu",
        accumulate_grad_batches=job.batch // job.micro,
        gradient_clip_val=None,  # refused with a fused optimiser: it has less to do than the others
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
    )
    engine.fit(Module(), job.loader())


def peers() -> dict[str, Callable[[Job, nn.Module, Clock], None]]:
    """Return the trainers that are installed; name those that are not."""
    found = {}
    for name, run in {"accelerate": accelerate, "lightning": lightning}.items():
        if importlib.util.find_spec(name):
            found[name] = run
        else:
            print(f"{name}: not installed, left out; pip install -r benchmarks/requirements.txt")
    return found
