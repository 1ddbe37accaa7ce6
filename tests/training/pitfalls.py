"""Each pitfall of accumulation in numbers: small, seeded, in double precision, the same on every machine."""

import math
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass

import torch
import torch.distributed as dist
from oracle.accumulation import full_batch_gradient, losses
from torch import Tensor, nn
from torch.amp.grad_scaler import GradScaler
from torch.nn.parallel import DistributedDataParallel
from torch.nn.utils import clip_grad_norm_
from torch.optim.lr_scheduler import CosineAnnealingLR, OneCycleLR
from training.small import CONFIG, FEATURES, LENGTH, small

from candlecast.training.accumulate import accumulate_gradients, micro_batches, total_weight
from candlecast.windows.batch import Batch

MICRO, STEPS = 4, 8
EFFECTIVE = MICRO * STEPS
UPDATES = 40
SCALE = 65536.0  # where torch's loss scaler begins


def batch_of(windows: int, seed: int) -> Batch:
    """Windows of equal weight whose target leans on their last bars: something can be learnt."""
    generator = torch.Generator().manual_seed(seed)
    inputs = torch.randn(windows, LENGTH, FEATURES, generator=generator, dtype=torch.float64)
    noise = torch.randn(windows, generator=generator, dtype=torch.float64)
    target = inputs[:, -1, 0] - inputs[:, -2, 1] + 0.5 * noise
    ones = torch.ones(windows, dtype=torch.float64)
    return Batch(inputs, target, (target > 0).double(), ones, torch.arange(windows))


def loss_sum(model: nn.Module) -> Callable[[Batch], Tensor]:
    return lambda batch: (losses(model(batch.inputs), batch, CONFIG) * batch.weight).sum()


def gradient(model: nn.Module) -> Tensor:
    return torch.cat([parameter.grad.flatten() for parameter in model.parameters()])


def held_out_loss(model: nn.Module) -> float:
    model.eval()
    batch = batch_of(512, seed=999)
    with torch.no_grad():
        value = float(loss_sum(model)(batch) / total_weight(batch))
    model.train()
    return value


def untrained_loss() -> float:
    return held_out_loss(small(dtype=torch.float64))


def relative(ours: Tensor, theirs: Tensor) -> float:
    return float((ours - theirs).norm() / theirs.norm())


def accumulated(model: nn.Module, batch: Batch, divide: bool = True) -> None:
    """Add a batch's gradient into .grad, micro-batch by micro-batch; undivided: each one's mean, summed."""
    for part in micro_batches(batch, MICRO):
        mean = loss_sum(model)(part) / len(part)
        (mean / STEPS if divide else mean).backward()


@dataclass(frozen=True)
class NoDivision:
    gradient_ratio: float
    losses: dict[tuple[str, bool], float]  # optimiser, divided -> held-out loss
    adam_apart: float  # largest relative difference of AdamW's weights


def no_division() -> NoDivision:
    model = small(dtype=torch.float64)
    right = full_batch_gradient(model, batch_of(EFFECTIVE, 0), CONFIG)[1]
    model.zero_grad()
    accumulated(model, batch_of(EFFECTIVE, 0), divide=False)
    ratio = float(gradient(model).norm() / right.norm())
    ends, weights = {}, {}
    for name, make in (
        ("SGD", lambda model: torch.optim.SGD(model.parameters(), lr=0.5)),
        ("AdamW", lambda model: torch.optim.AdamW(model.parameters(), lr=0.02)),
    ):
        for divide in (True, False):
            model = small(dtype=torch.float64)
            optimizer = make(model)
            for update in range(UPDATES):
                accumulated(model, batch_of(EFFECTIVE, update), divide)
                optimizer.step()
                optimizer.zero_grad()
            ends[name, divide] = held_out_loss(model)
            weights[name, divide] = torch.cat([p.detach().flatten() for p in model.parameters()])
    return NoDivision(ratio, ends, relative(weights["AdamW", False], weights["AdamW", True]))


def batch_norm(norm: str) -> dict[int, float]:
    """Return by micro-batch how far the accumulated gradient is from that of 64 windows at once."""
    batch, errors = batch_of(64, 0), {}
    for micro in (2, 4, 8, 16, 32):
        model = small(norm, dtype=torch.float64)
        right = full_batch_gradient(model, batch, CONFIG)[1]
        model.zero_grad()
        accumulate_gradients(
            loss_sum(model),
            micro_batches(batch, micro),
            total_weight(batch),
            GradScaler("cpu", enabled=False),
        )
        errors[micro] = relative(gradient(model), right)
    return errors


def batch_norm_scatter() -> dict[int, float]:
    """Return by micro-batch the scatter, relative to its mean, of the variance batch norm divides by."""
    hidden = small("batch", dtype=torch.float64).conv(batch_of(4096, 1).inputs.transpose(1, 2)).detach()
    scatter = {}
    for micro in (2, 16, 128):
        variances = hidden.unfold(0, micro, micro).var(dim=(2, 3), correction=0)
        scatter[micro] = float((variances.std(dim=0) / variances.mean(dim=0)).mean())
    return scatter


@dataclass(frozen=True)
class Schedule:
    rates: dict[bool, list[float]]  # right -> the rate of each update
    losses: dict[bool, float]
    refused: int  # the update in which OneCycleLR raises


def schedule() -> Schedule:
    rates: dict[bool, list[float]] = {True: [], False: []}
    ends = {}
    for right in (True, False):
        model = small(dtype=torch.float64)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
        scheduler = CosineAnnealingLR(optimizer, T_max=UPDATES)
        for update in range(UPDATES):
            rates[right].append(optimizer.param_groups[0]["lr"])
            accumulated(model, batch_of(EFFECTIVE, update))
            optimizer.step()
            optimizer.zero_grad()
            for _ in range(1 if right else STEPS):
                scheduler.step()
        ends[right] = held_out_loss(model)
    return Schedule(rates, ends, one_cycle_refuses())


def one_cycle_refuses() -> int:
    optimizer = torch.optim.SGD(small().parameters(), lr=0.5)
    scheduler = OneCycleLR(optimizer, max_lr=0.5, total_steps=UPDATES)
    optimizer.step()
    for micro_step in range(UPDATES * STEPS):
        try:
            scheduler.step()
        except ValueError:
            return micro_step // STEPS + 1
    raise AssertionError("it took every step")


@dataclass(frozen=True)
class Clip:
    applied: dict[bool, float]  # right -> norm of the gradient that the first update applied
    losses: dict[bool, float]
    clipped: dict[bool, float]  # share of updates


def clip(max_norm: float = 1.0) -> Clip:
    applied, ends, clipped = {}, {}, {}
    for right in (True, False):
        model = small(dtype=torch.float64)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
        scaler = GradScaler("cpu", init_scale=SCALE, growth_interval=10**6)
        above = 0
        for update in range(UPDATES):
            for part in micro_batches(batch_of(EFFECTIVE, update), MICRO):
                scaler.scale(loss_sum(model)(part) / EFFECTIVE).backward()
            if right:
                scaler.unscale_(optimizer)
            above += bool(clip_grad_norm_(model.parameters(), max_norm) > max_norm)
            if not right:
                scaler.unscale_(optimizer)
            applied.setdefault(right, float(gradient(model).norm()))
            scaler.step(optimizer)
            scaler.update()
            optimizer.zero_grad()
        ends[right], clipped[right] = held_out_loss(model), above / UPDATES
    return Clip(applied, ends, clipped)


def applied_after_overflow(clear: str, overflow: int = 5, updates: int = 40) -> int:
    """Return how many of `updates` moved the weights; one overflowed. `clear`: always, or after a step."""
    model = small(dtype=torch.float64)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scaler = GradScaler("cpu", init_scale=1024.0)
    moved = 0
    for update in range(updates):
        for number, part in enumerate(micro_batches(batch_of(EFFECTIVE, update), MICRO)):
            loss = loss_sum(model)(part) / EFFECTIVE
            scaler.scale(loss * math.inf if (update, number) == (overflow, 2) else loss).backward()
        before = model.mean_head.weight.detach().clone()
        scaler.unscale_(optimizer)
        scaler.step(optimizer)
        stepped = not torch.equal(before, model.mean_head.weight)
        scaler.update()
        if clear == "always" or stepped:
            optimizer.zero_grad()
        moved += stepped
    return moved


@contextmanager
def single_group() -> Iterator[None]:
    dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    try:
        yield
    finally:
        dist.destroy_process_group()


def reductions(way: str) -> int:
    """Return the all-reduces of one update: `every` micro-batch, `backward` alone or `both` in no_sync."""
    parallel = DistributedDataParallel(small(dtype=torch.float64))
    count = 0

    def hook(_: object, bucket: dist.GradBucket) -> torch.futures.Future[Tensor]:
        nonlocal count
        count += 1
        future: torch.futures.Future[Tensor] = torch.futures.Future()
        future.set_result(bucket.buffer())
        return future

    parallel.register_comm_hook(None, hook)
    parts = micro_batches(batch_of(EFFECTIVE, 0), MICRO)
    for part in parts:
        quiet: Callable[[], AbstractContextManager[object]] = (
            nullcontext if way == "every" or part is parts[-1] else parallel.no_sync
        )
        with quiet() if way == "both" else nullcontext():
            loss = loss_sum(parallel)(part) / EFFECTIVE
        with quiet():
            loss.backward()
    return count


def all_reduces() -> dict[str, int]:
    with single_group():
        return {way: reductions(way) for way in ("every", "backward", "both")}


def last_step_without_gradient() -> str:
    """Return what torch says to the article's first variant, the last micro-batch under no_grad."""
    model = small(dtype=torch.float64)
    with torch.no_grad():
        loss = loss_sum(model)(batch_of(MICRO, 0))
    try:
        loss.backward()
    except RuntimeError as error:
        return str(error)
    raise AssertionError("it had a gradient")
