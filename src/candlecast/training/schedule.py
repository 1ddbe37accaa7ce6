"""The learning rate as a pure function of how much of the budget is spent."""

import math


def learning_rate(progress: float, peak: float, final_fraction: float, warmup_fraction: float) -> float:
    """Return the rate of the update that brings the budget spent to `progress`, in [0, 1].

    Linear from 0 to `peak` while progress <= warmup_fraction, then half a cosine down to
    final_fraction x peak at progress 1. Progress is (update + 1) / total updates, so runs of different
    effective batch follow one curve over samples; micro-steps and skipped updates do not move it.

    >>> [round(learning_rate(quarter / 4, 1.0, 0.0, 0.5), 3) for quarter in (1, 2, 3, 4)]
    [0.5, 1.0, 0.5, 0.0]
    """
    if progress < warmup_fraction:
        return peak * progress / warmup_fraction
    decayed = (progress - warmup_fraction) / (1 - warmup_fraction) if warmup_fraction < 1 else 0.0
    cosine = 0.5 * (1 + math.cos(math.pi * min(decayed, 1.0)))
    return peak * (final_fraction + (1 - final_fraction) * cosine)
