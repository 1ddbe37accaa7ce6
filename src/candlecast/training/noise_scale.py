"""The gradient noise scale, from the micro-batches that an accumulated update has anyway.

McCandlish et al. 2018 (arXiv 1812.06162), appendix A: B_simple = tr(S) / |G|^2, with S the covariance of
one window's gradient and G the true gradient. Well below it a larger effective batch is nearly free; well
above it the extra windows teach nothing new.

With micro-batch k of weight W_k (V_k: its sum of squared weights), m_k its mean gradient, and g the
gradient of the whole effective batch (W, V), the expectations are

    E[ sum_k W_k |m_k|^2 ] = W |G|^2 + tr(S) sum_k V_k / W_k
    E[ W |g|^2 ]           = W |G|^2 + tr(S) V / W

Their difference gives tr(S), unbiased, from all K micro-batches however ragged; then
|G|^2 = |g|^2 - tr(S) V / W^2, which may come out negative and is not clamped. With unit weights V = W = n.
What is measured is the noise of sampling windows; windows that overlap share most of their bars.
"""

import math
from collections.abc import Callable, Iterable, Sequence, Sized
from dataclasses import asdict, dataclass

import torch
from torch import Tensor, nn

from candlecast.training.accumulate import Batch
from candlecast.training.records import NoiseEstimate

HALF_LIFE = 25.0  # measurements after which one counts half
QUANTILE = 1.645  # of the normal distribution: a 90 % interval


class NoiseMeter:
    """Sums the squared gradient of each micro-batch while the backward pass makes it; copies no gradient.

    A hook on a parameter sees a micro-batch's gradient before it is added into .grad. Hooks are in place
    during measured updates only: every `every`-th one. An update of one micro-batch measures nothing unless
    `probe` says into how many it is cut instead; its gradient is the same.
    """

    def __init__(self, parameters: Iterable[nn.Parameter], every: int | None, probe: int) -> None:
        self._parameters = [parameter for parameter in parameters if parameter.requires_grad]
        self._every, self._probe = every, probe
        self._weights: list[Tensor] = []
        self._norms: list[list[Tensor]] = []  # of each micro-batch, a parameter at a time
        self._hooks: list[torch.utils.hooks.RemovableHandle] = []

    def due(self, update: int) -> bool:
        """Say whether the update after `update` applied ones is measured."""
        return self._every is not None and update % self._every == 0

    def micro_batch(self, size: int, windows: int, update: int) -> int:
        """Return the micro-batch to cut `windows` windows with: `size`, or a probe's."""
        probing = self._probe > 1 and windows <= size and self.due(update)
        return max(1, -(-windows // self._probe)) if probing else size

    def watch(self, loss_sum: Callable[[Batch], Tensor], update: int) -> Callable[[Batch], Tensor]:
        """Return `loss_sum` such that each call begins a micro-batch; itself when nothing is measured."""
        self._forget()
        if not self.due(update):
            return loss_sum
        for parameter in self._parameters:
            self._hooks.append(parameter.register_hook(self._note))  # type: ignore[no-untyped-call]

        def watched(batch: Batch) -> Tensor:
            self._weights.append(batch.weight)
            self._norms.append([])
            return loss_sum(batch)

        return watched

    def result(self, weight: Tensor, scale: float) -> Tensor | None:
        """Return [sum_k W_k |m_k|^2, sum_k V_k / W_k, W, V] on the device, or None if not watching.

        The sums over k are those of this process. `weight` is that of the whole effective batch, and
        `scale` the loss scale that the gradients went through.
        """
        if not self._norms:
            return None
        squares = _sums(torch.stack([norm for norms in self._norms for norm in norms]), self._norms, 2)
        weights = torch.cat(self._weights)
        sums, squared = (_sums(weights, self._weights, power) for power in (1, 2))
        self._forget()
        whole = weight.double()
        # A dummy micro-batch of no weight, where a process has no share, has a zero gradient.
        spread = torch.where(sums > 0, (whole.sum() / scale) ** 2 * squares / sums, 0.0)
        share = torch.where(sums > 0, squared / sums, 0.0)
        return torch.stack([spread.sum(), share.sum(), whole.sum(), whole.square().sum()])

    def _note(self, gradient: Tensor) -> None:
        self._norms[-1].append(torch.linalg.vector_norm(gradient))

    def _forget(self) -> None:
        for hook in self._hooks:
            hook.remove()
        self._hooks, self._weights, self._norms = [], [], []


def _sums(values: Tensor, parts: Sequence[Sized], power: int) -> Tensor:
    """Return the sum of each part's values to the `power`, in float64; the parts follow one another."""
    powers = values.double() if power == 1 else values.double().square()
    return torch.stack([part.sum() for part in torch.split(powers, [len(part) for part in parts])])


def trace_and_signal(
    spread: float, share: float, grad_norm: float, weight: float, squared_weight: float
) -> tuple[float, float] | None:
    """Return unbiased tr(S) and |G|^2 of one update, or None where there was but one micro-batch."""
    freedom = share - squared_weight / weight  # K - 1 with unit weights
    if freedom <= 1e-6 * share:
        return None
    trace = (spread - weight * grad_norm**2) / freedom
    return trace, grad_norm**2 - trace * squared_weight / weight**2


@dataclass(slots=True)
class SmoothedNoise:
    """Exponentially weighted moments of tr(S) and |G|^2; the ratio is taken last.

    The mean of per-update ratios would be biased, and a single one is mostly noise.
    """

    weight: float = 0.0  # sum of the measurements' weights
    squares: float = 0.0  # and of their squares
    trace: float = 0.0  # weighted means
    signal: float = 0.0
    trace_trace: float = 0.0  # weighted sums of products about the means
    trace_signal: float = 0.0
    signal_signal: float = 0.0

    def add(self, trace: float, signal: float) -> None:
        """Take in one measurement, by Welford's recurrence with decay."""
        decay = 0.5 ** (1 / HALF_LIFE)
        for name in ("weight", "trace_trace", "trace_signal", "signal_signal"):
            setattr(self, name, getattr(self, name) * decay)
        self.squares = self.squares * decay**2 + 1
        self.weight += 1
        d_trace, d_signal = trace - self.trace, signal - self.signal
        self.trace += d_trace / self.weight
        self.signal += d_signal / self.weight
        self.trace_trace += d_trace * (trace - self.trace)
        self.trace_signal += d_trace * (signal - self.signal)
        self.signal_signal += d_signal * (signal - self.signal)

    def estimate(self) -> NoiseEstimate | None:
        """Return the noise scale and its interval, or None before the third measurement.

        The interval is Fieller's for a ratio of means; it takes measurements as independent.
        """
        share = self.squares / self.weight**2 if self.weight else 1.0
        if self.weight < 2.5:
            return None
        unit = share / (1 - share) / self.weight  # makes a sum of products a covariance of the means
        aa, ab, bb = (unit * value for value in (self.trace_trace, self.trace_signal, self.signal_signal))
        low, high = fieller(self.trace, self.signal, aa, ab, bb)
        scale = self.trace / self.signal if self.signal > 0 else None
        return NoiseEstimate(trace=self.trace, signal=self.signal, scale=scale, low=low, high=high)

    def state(self) -> dict[str, float]:
        """Return everything, for a checkpoint."""
        return asdict(self)


def fieller(a: float, b: float, aa: float, ab: float, bb: float) -> tuple[float, float]:
    """Return the 90 % interval of a / b from two means and their covariances; a scale is never negative.

    Where b's own interval reaches zero the ratio has no upper bound.
    """
    z2 = QUANTILE**2
    quadratic, linear, constant = b * b - z2 * bb, a * b - z2 * ab, a * a - z2 * aa
    if b <= 0 or quadratic <= 0:
        reach = b + QUANTILE * math.sqrt(bb)
        return (max(a - QUANTILE * math.sqrt(aa), 0.0) / reach if reach > 0 else math.inf), math.inf
    root = math.sqrt(max(linear * linear - quadratic * constant, 0.0))
    return max((linear - root) / quadratic, 0.0), max((linear + root) / quadratic, 0.0)
