"""How much of the machine's matrix-multiply rate training reaches, and what its time goes into."""

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import torch
from benchmarks.trainers import Job
from torch import nn
from torch.profiler import ProfilerActivity, profile
from torch.utils.flop_counter import FlopCounterMode

from candlecast.models.config import ModelConfig
from candlecast.models.hybrid import build_model

WIDTHS = (32, 64, 128)
KINDS = {  # of operations, by a word in their names; the first that fits counts
    "convolutions": ("convolution",),
    "matrix products": ("aten::mm", "aten::addmm", "aten::bmm"),
    "attention": ("attention",),
    "layer norm": ("layer_norm",),
}


def multiply_shares(job: Job, config: ModelConfig, rounds: int = 5) -> tuple[float, list[dict[str, Any]]]:
    """Return the rate of a 2048 cube in GFLOP/s, and for each width the share of it that a step reaches.

    A step is forward and backward of a micro-batch. The best of some rounds counts, of either in turn.
    """
    left, right = torch.randn(2, 2048, 2048)
    steps = {width: make_step(job, replace(config, width=width)) for width in WIDTHS}
    operations = {width: count_operations(step) for width, step in steps.items()}
    product, best = float("inf"), dict.fromkeys(WIDTHS, float("inf"))
    for _ in range(rounds):
        product = min(product, seconds(lambda: left @ right))
        for width, step in steps.items():
            best[width] = min(best[width], *(seconds(step) for _ in range(3)))
    rate = 2 * 2048**3 / product
    rows = [
        {
            "width": width,
            "megaflops_a_window": operations[width] / job.micro / 1e6,
            "share_of_multiply_rate": operations[width] / best[width] / rate,
        }
        for width in WIDTHS
    ]
    return rate / 1e9, rows


def shares_of_time(job: Job, config: ModelConfig) -> dict[str, float]:
    """Return which share of a step's processor time each kind of operation takes."""
    step = make_step(job, config)
    step()
    with profile(activities=[ProfilerActivity.CPU]) as profiler:
        for _ in range(10):
            step()
    shares = dict.fromkeys([*KINDS, "the rest, mostly element by element"], 0.0)
    events = profiler.key_averages()
    whole = sum(event.self_cpu_time_total for event in events)
    for event in events:
        kind = next((kind for kind, words in KINDS.items() if any(w in event.key for w in words)), None)
        shares[kind or list(shares)[-1]] += event.self_cpu_time_total / whole
    return shares


def make_step(job: Job, config: ModelConfig) -> Callable[[], None]:
    batch = job.dataset.batch(job.order[: job.micro])
    model: nn.Module = build_model(config, job.dataset.num_features, job.dataset.length)
    return lambda: job.loss_sum(model, batch).backward()


def count_operations(step: Callable[[], None]) -> int:
    with FlopCounterMode(display=False) as counter:
        step()
    return counter.get_total_flops()


def seconds(run: Callable[[], object]) -> float:
    start = time.process_time()
    run()
    return time.process_time() - start
