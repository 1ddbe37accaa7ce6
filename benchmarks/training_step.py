"""The training step at the default shape, 16 x 8: this project's against the article's, in one process.

    python -m benchmarks.training_step [--json FILE] [--threads N] [--processor-time]

Arms: both models in both loops, and this project's model in a bare loop, which shows what the accumulating
one costs. Rounds alternate between the arms, so that another load on the machine hits all; ratios are of
each arm's best round, and the medians stand beside them. On a machine that is busy all the time, count the
seconds this process spends on a processor instead, with one thread. Then the share of the machine's
matrix-multiply rate that training reaches: floating-point operations counted by torch, over a 2048 cube
measured in the run.
"""

import argparse
import json
import platform
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from benchmarks.article import ArticleModel, article_loop
from benchmarks.batches import FEATURES, LENGTH, ItemDataset, random_store
from torch import Tensor, nn
from torch.amp.grad_scaler import GradScaler
from torch.utils.data import DataLoader
from torch.utils.flop_counter import FlopCounterMode

from candlecast.models.config import ModelConfig
from candlecast.models.hybrid import build_model
from candlecast.params import load_params
from candlecast.training.accumulate import (
    accumulate_gradients,
    apply_gradients,
    clip_gradients,
    micro_batches,
)
from candlecast.training.config import AccumConfig, Recipe, TrainConfig
from candlecast.training.loss import make_loss_sum
from candlecast.training.optimizer import make_optimizer
from candlecast.training.precision import Precision
from candlecast.windows.batch import Batch
from candlecast.windows.dataset import WindowDataset
from candlecast.windows.sampler import effective_batches, epoch_order
from candlecast.windows.store import WindowStore

PARAMS = Path(__file__).parent.parent / "params.yaml"
MICRO, STEPS = 16, 8
Round = Callable[[], object]


class Arms:
    """Every way to make the same updates: each runs `updates` of 128 windows."""

    def __init__(self, store: WindowStore, updates: int) -> None:
        config = load_params("model", ModelConfig, PARAMS)
        accum = AccumConfig(micro_batch=MICRO, steps=STEPS, effective_batch=None)
        self.train = load_params("train", TrainConfig, PARAMS)
        self.recipe = Recipe(train=self.train, accum=accum, seed=1)
        self.order = epoch_order(len(store.split.train), 1, 0)[: updates * MICRO * STEPS]
        self.dataset, self.items = WindowDataset(store, "train"), ItemDataset(store)
        torch.manual_seed(1)
        self.ours = build_model(config, FEATURES, LENGTH)
        self.articles = ArticleModel(config, FEATURES, LENGTH)

    def accumulating(self, model: nn.Module) -> Round:
        scaler, optimizer = GradScaler("cpu", enabled=False), make_optimizer(model, self.recipe)
        loss_sum = make_loss_sum(model, self.train, Precision("fp32", "cpu", scaler))

        def run() -> None:
            model.train()
            for batch in effective_batches(self.dataset, self.order, MICRO * STEPS):
                slices = micro_batches(batch, MICRO)
                accumulate_gradients(loss_sum, slices, batch.weight.sum(), scaler)
                clip_gradients(optimizer, scaler, self.train.clip_norm)
                apply_gradients(optimizer, scaler)

        return run

    def bare(self, model: nn.Module) -> Round:
        optimizer = make_optimizer(model, self.recipe)
        loss_sum = make_loss_sum(
            model, self.train, Precision("fp32", "cpu", GradScaler("cpu", enabled=False))
        )

        def run() -> None:
            model.train()
            for batch in effective_batches(self.dataset, self.order, MICRO * STEPS):
                for start in range(0, len(batch), MICRO):
                    (loss_sum(batch[start : start + MICRO]) / len(batch)).backward()
                torch.nn.utils.clip_grad_norm_(model.parameters(), self.train.clip_norm)
                optimizer.step()
                optimizer.zero_grad()

        return run

    def article(self, model: nn.Module, workers: int = 0) -> Round:
        optimizer = torch.optim.AdamW(model.parameters())
        loader = DataLoader(
            self.items,
            MICRO,
            sampler=self.order.tolist(),
            num_workers=workers,
            persistent_workers=workers > 0,
        )
        return lambda: article_loop(model, loader, optimizer, STEPS)


def measure(
    arms: dict[str, Round], rounds: int, windows: int, clock: Callable[[], float]
) -> dict[str, dict[str, float]]:
    """Return windows a second of every arm, after a round that does not count."""
    speeds: dict[str, list[float]] = {name: [] for name in arms}
    for number in range(rounds + 1):
        for name, run in arms.items():
            start = clock()
            run()
            if number > 0:
                speeds[name].append(windows / (clock() - start))
    return {
        name: {"best": max(values), "median": statistics.median(values)} for name, values in speeds.items()
    }


def operations(model: nn.Module, loss_sum: Callable[[Batch], Tensor], batch: Batch) -> float:
    """Return the floating-point operations of a window, forward and backward."""
    with FlopCounterMode(display=False) as counter:
        loss_sum(batch).backward()
    model.zero_grad()
    return counter.get_total_flops() / len(batch)


def multiply_rate(clock: Callable[[], float], size: int = 2048, rounds: int = 10) -> float:
    """Return the best floating-point operations a second of a matrix product of a `size` cube."""
    left, right = torch.randn(2, size, size)
    times = []
    for _ in range(rounds):
        start = clock()
        left @ right
        times.append(clock() - start)
    return 2 * size**3 / min(times)


def run(updates: int, rounds: int, processor_time: bool) -> dict[str, Any]:
    clock = time.process_time if processor_time else time.perf_counter
    arms = Arms(random_store(tickers=5, bars=2500), updates)
    rate = multiply_rate(clock)
    ways = {
        "ours": arms.accumulating(arms.ours),
        "our model, bare loop": arms.bare(arms.ours),
        "our model, article's loop": arms.article(arms.ours),
        "article's model, our loop": arms.accumulating(arms.articles),
        "article's": arms.article(arms.articles),
    }
    if not processor_time:  # workers are other processes
        ways["article's, 2 workers"] = arms.article(arms.articles, workers=2)
    speeds = measure(ways, rounds, len(arms.order), clock)
    for speed in speeds.values():
        speed["ours_is_times_faster"] = speeds["ours"]["best"] / speed["best"]
    loss_sum = make_loss_sum(
        arms.ours, arms.train, Precision("fp32", "cpu", GradScaler("cpu", enabled=False))
    )
    flops = operations(arms.ours, loss_sum, arms.dataset.batch(arms.order[:MICRO]))
    return {
        "torch": torch.__version__,
        "machine": f"{platform.machine()}, {torch.get_num_threads()} threads",
        "clock": "processor" if processor_time else "wall",
        "shape": f"{MICRO} x {STEPS} windows of {LENGTH} x {FEATURES}",
        "speed": speeds,
        "megaflops_a_window": flops / 1e6,
        "multiply_gigaflops_a_second": rate / 1e9,
        "share_of_multiply_rate": flops * speeds["ours"]["best"] / rate,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--updates", type=int, default=4, help="in a round")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--threads", type=int, help="of torch; its own choice unless given")
    parser.add_argument("--processor-time", action="store_true", help="for a busy machine, with --threads 1")
    parser.add_argument("--json", type=Path, help="write the figures there")
    options = parser.parse_args()
    if options.threads:
        torch.set_num_threads(options.threads)
    result = run(options.updates, options.rounds, options.processor_time)
    print(f"{result['shape']}; {result['machine']}, torch {result['torch']}, {result['clock']} clock")
    for name, speed in result["speed"].items():
        print(
            f"{name:<28}{speed['best']:>8,.0f} windows/s (median {speed['median']:,.0f}), "
            f"ours is {speed['ours_is_times_faster']:.2f} x as fast"
        )
    print(
        f"{result['megaflops_a_window']:.1f} MFLOP a window; {result['share_of_multiply_rate']:.1%} of the "
        f"{result['multiply_gigaflops_a_second']:.0f} GFLOP/s of a 2048 cube"
    )
    if options.json:
        options.json.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
