"""What the article has wrong, in numbers measured the same way."""

import math
from dataclasses import dataclass

import torch
from oracle.accumulation import article_epoch, full_batch_gradient
from torch import Tensor, nn
from training.pitfalls import EFFECTIVE, MICRO, STEPS, batch_of, gradient, loss_sum, relative
from training.small import CONFIG, small

from candlecast.training.accumulate import micro_batches


@dataclass(frozen=True)
class Tail:
    updates: dict[int, int]  # micro-batches an epoch -> updates in two epochs, of 4 steps each
    leaked: float  # relative error of the second epoch's first gradient


def tail(steps: int = 4) -> Tail:
    counts = {}
    for length in (3, 7, 8):
        model = small(dtype=torch.float64)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.0)
        parts = [batch_of(MICRO, index) for index in range(length)]
        counts[length] = sum(article_epoch(model, optimizer, parts, steps, CONFIG) for _ in range(2))
    model = small(dtype=torch.float64)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.0)
    parts = [batch_of(MICRO, index) for index in range(7)]
    article_epoch(model, optimizer, parts, steps, CONFIG)
    for part in parts[:steps]:
        (loss_sum(model)(part) / MICRO / steps).backward()
    leaking = gradient(model)
    model.zero_grad()
    for part in parts[:steps]:
        (loss_sum(model)(part) / MICRO / steps).backward()
    return Tail(counts, relative(leaking, gradient(model)))


def each_loss_divided() -> float:
    """Return how far dividing two losses one by one is from dividing their sum."""
    batch = batch_of(EFFECTIVE, 0)
    found = []
    for apart in (False, True):
        model = small(dtype=torch.float64)
        forecast = model(batch.inputs)
        main = (forecast.mean - batch.target).square().mean()
        other = 0.1 * nn.functional.softplus(forecast.direction_logit).mean()
        (main / STEPS + other / STEPS if apart else (main + other) / STEPS).backward()
        found.append(gradient(model))
    return relative(*found)


def ragged() -> dict[str, float]:
    """Return the relative gradient error of 32 windows in micro-batches of 5, the last of 2."""
    batch, errors = batch_of(32, 0), {}
    parts = micro_batches(batch, 5)
    for name, divisors in (("means", [len(part) * len(parts) for part in parts]), ("sum", [32] * len(parts))):
        model = small(dtype=torch.float64)
        right = full_batch_gradient(model, batch, CONFIG)[1]
        model.zero_grad()
        for part, divisor in zip(parts, divisors, strict=True):
            (loss_sum(model)(part) / divisor).backward()
        errors[name] = relative(gradient(model), right)
    return errors


def dropout_gradients(micro: int, draws: int = 400) -> Tensor:
    """Return gradients [draws, weights] of one batch of 8 windows under dropout, cut as `micro` says."""
    batch, found = batch_of(8, 0), []
    model = small(dropout=0.5, dtype=torch.float64)
    torch.manual_seed(micro)
    for _ in range(draws):
        model.zero_grad()
        for part in micro_batches(batch, micro):
            (loss_sum(model)(part) / 8).backward()
        found.append(gradient(model))
    return torch.stack(found)


@dataclass(frozen=True)
class Dropout:
    mean: float  # largest difference of the means, in its standard errors
    spread: float  # ratio of the summed variances, accumulated over whole


def dropout() -> Dropout:
    whole, parts = dropout_gradients(8), dropout_gradients(2)
    error = (whole.var(dim=0) / len(whole) + parts.var(dim=0) / len(parts)).sqrt()
    moves = error > 1e-12
    apart = ((whole.mean(dim=0) - parts.mean(dim=0)).abs()[moves] / error[moves]).max()
    return Dropout(float(apart), float(parts.var(dim=0).sum() / whole.var(dim=0).sum()))


def averaged_curve(points: int = 20_000) -> float:
    """Return the scatter of a logged loss that averages 8 micro-batches, relative to that of one."""
    draws = torch.randn(points, STEPS, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    return float(draws.mean(dim=1).std() / draws.std())


def attention_bytes(fused: bool) -> int:
    """Return what autograd keeps of one attention over 256 bars, 16 windows and 4 heads of 8 channels."""
    shape = (16, 4, 256, 8)
    query, key, value = (torch.zeros(shape, requires_grad=True) for _ in range(3))
    kept: dict[int, int] = {}

    def note(tensor: Tensor) -> Tensor:
        kept[tensor.untyped_storage().data_ptr()] = tensor.untyped_storage().nbytes()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(note, lambda tensor: tensor):
        if fused:
            result = nn.functional.scaled_dot_product_attention(query, key, value)
        else:
            scores = query @ key.transpose(-2, -1) / math.sqrt(shape[-1])
            result = torch.softmax(scores, dim=-1) @ value
    assert result.shape == shape
    return sum(kept.values())
