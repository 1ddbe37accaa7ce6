"""The training step at the default shape, 16 x 8 windows of 256 bars: this project's beside others'.

    python -m benchmarks.training_step [--rounds 11] [--json FILE]

Arms, all with the sizes of params.yaml: the trainer as the stage runs it; a bare hand-written loop of the
same model, which shows what the trainer adds; Accelerate and Lightning around the same model; the article's
loop and model, and its model in the bare loop; torch's stock encoder in place of ours; the trainer with the
model compiled, and with AdamW's operations one by one. Then the share of the machine's matrix-multiply rate
that training reaches, and what the rest of its time goes into.

One thread. A round trains ten updates by each arm in turn, two where an arm is slow; a ratio is the median
over the rounds of the ratio within a round, of processor time, since machines drift and are shared. The first
round does not count. Switches of a GPU's kernels (train.cudnn_benchmark, train.tf32) do nothing here and are
not measured.
"""

import argparse
import shutil
import statistics
import warnings
from collections.abc import Callable
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any

import torch
from benchmarks.article import ArticleModel, StockEncoder, article_loop
from benchmarks.batches import FEATURES, LENGTH, random_store
from benchmarks.multiply_rate import WIDTHS, multiply_shares, shares_of_time
from benchmarks.ratios import Ratio, leave
from benchmarks.trainers import Clock, Job, Seconds, bare, candlecast, peers
from torch import nn

from candlecast.models.config import ModelConfig
from candlecast.models.hybrid import build_model
from candlecast.params import load_params
from candlecast.training.config import AccumConfig, Recipe, TrainConfig

MICRO, STEPS = 16, 8
UPDATES = 10  # in a round: the trainer flushes its log once, and measures the noise scale once
SLOW_UPDATES = 2
OURS, BARE, ARTICLE, STOCK = "candlecast", "bare loop", "article", "stock nn.TransformerEncoder"
COMPILED, UNFUSED = "train.compile", "no train.fused_optimizer"

Arm = Callable[[Clock], object]


def article(job: Job, model: nn.Module, clock: Clock) -> None:
    optimizer, loader = torch.optim.AdamW(model.parameters()), job.loader()
    clock.begin()
    article_loop(model, loader, optimizer, STEPS, clock.tick)


def make_arms(job: Job, config: ModelConfig) -> dict[str, Arm]:
    """Return every way to make the same updates, each with a model of its own."""

    def ours() -> nn.Module:
        torch.manual_seed(1)
        return build_model(config, FEATURES, LENGTH)

    def switched(**switches: bool) -> Job:
        return job.with_train(replace(job.recipe.train, **switches))

    short = Job(job.store, job.recipe, SLOW_UPDATES)
    stock = ours()
    stock.encoder = StockEncoder(config)
    arms: dict[str, Arm] = {
        OURS: partial(candlecast, job, ours()),
        BARE: partial(bare, job, ours()),
        **{name: partial(run, job, ours()) for name, run in peers().items()},
        ARTICLE: partial(article, short, ArticleModel(config, FEATURES, LENGTH)),
        "article's model, bare loop": partial(bare, short, ArticleModel(config, FEATURES, LENGTH)),
        STOCK: partial(bare, short, stock),
        UNFUSED: partial(candlecast, switched(fused_optimizer=False), ours()),
    }
    if shutil.which("g++"):
        arms[COMPILED] = partial(candlecast, switched(compile=True), ours())
    else:
        print(f"{COMPILED}: left out, there is no C++ compiler")
    return arms


def measure(arms: dict[str, Arm], rounds: int) -> dict[str, list[Seconds]]:
    """Return each round's seconds an update of every arm, after a round that does not count."""
    times: dict[str, list[Seconds]] = {name: [] for name in arms}
    for number in range(rounds + 1):
        for name, run in arms.items():
            clock = Clock()
            run(clock)
            if number > 0:
                times[name].append(clock.seconds())
    return times


def times_slower(times: dict[str, list[Seconds]], name: str, against: str) -> float:
    """Return how many times the processor time of `against` the arm `name` takes."""
    pairs = zip(times[name], times[against], strict=True)
    return statistics.median(one.processor / other.processor for one, other in pairs)


def ratios_of(times: dict[str, list[Seconds]], shares: dict[int, float]) -> list[Ratio]:
    """Return the ratios that have a goal."""
    step = f"training step {MICRO} x {STEPS}"
    bounds = {ARTICLE: 3.0, STOCK: 1.0, "accelerate": 1.0, "lightning": 1.0}
    faster = [
        Ratio(what=f"{step}, speed", against=name, value=times_slower(times, name, OURS), goal=goal)
        for name, goal in bounds.items()
        if name in times
    ]
    cost = Ratio(
        what=f"{step}, time",
        against=BARE,
        value=times_slower(times, OURS, BARE),
        goal=1.05,
        reached="at most",
    )
    rates = [
        Ratio(what=f"{step}, rate at width {width}", against="2048 cube GEMM", value=shares[width], goal=0.5)
        for width in WIDTHS
    ]
    return [cost, *faster, *rates]


def report(times: dict[str, list[Seconds]]) -> None:
    windows = MICRO * STEPS
    for name, values in times.items():
        processor = statistics.median(value.processor for value in values)
        wall = statistics.median(value.wall for value in values)
        print(
            f"{name:28}{windows / processor:7,.0f} windows a processor second, {windows / wall:7,.0f} "
            f"by the wall's; {times_slower(times, name, OURS):.2f} x the time of {OURS}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--json", type=Path, help="write the figures there")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    config = load_params("model", ModelConfig)
    accum = AccumConfig(micro_batch=MICRO, steps=STEPS, effective_batch=None)
    recipe = Recipe(train=load_params("train", TrainConfig), accum=accum, seed=1)
    job = Job(random_store(tickers=5, bars=2500), recipe, UPDATES)
    rate, rows = multiply_shares(job, config)
    for row in rows:
        print(
            f"width {row['width']:4}: {row['megaflops_a_window']:.0f} MFLOP a window, "
            f"{row['share_of_multiply_rate']:.0%} of the {rate:.0f} GFLOP/s of a 2048 cube"
        )
    kinds = shares_of_time(job, config)
    print("where the time goes:", ", ".join(f"{name} {share:.0%}" for name, share in kinds.items()))
    times = measure(make_arms(job, config), options.rounds)
    report(times)
    figures: dict[str, Any] = {
        "seconds_an_update": {name: [asdict(value) for value in values] for name, values in times.items()},
        "multiply_gigaflops_a_second": rate,
        "widths": rows,
        "share_of_time": kinds,
    }
    shares = {row["width"]: row["share_of_multiply_rate"] for row in rows}
    leave(options.json, ratios_of(times, shares), figures)


if __name__ == "__main__":
    main()
