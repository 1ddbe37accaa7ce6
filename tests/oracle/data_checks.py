"""Slow, obvious twins of the checks that look at more than one bar."""

import math
from collections import Counter
from typing import Any

SPLITS = (1.5, 2, 3, 4, 5, 6, 7, 8, 10, 15, 20, 25, 30, 40, 50)


def near(value: float, target: float, tolerance: float) -> bool:
    """Within a factor of 1 + tolerance, either way."""
    return target / (1 + tolerance) <= value <= target * (1 + tolerance)


def slow_unit_jumps(closes: list[float], tolerance: float) -> list[int]:
    """Count the unit up and down, bar by bar; the odd ones are those not in the most common unit."""
    unit, units = 0, []
    for row, close in enumerate(closes):
        if row:
            unit += near(close / closes[row - 1], 100, tolerance)
            unit -= near(close / closes[row - 1], 0.01, tolerance)
        units.append(unit)
    most = max(Counter(units).values(), default=0)
    usual = max((unit for unit, count in Counter(units).items() if count == most), default=0)
    return [row for row, unit in enumerate(units) if unit != usual]


def slow_split_days(bars: list[dict[str, Any]], tolerance: float) -> list[int]:
    days = []
    for row in range(1, len(bars)):
        last, bar = bars[row - 1]["adjusted_close"], bars[row]
        opening = bar["open"] * bar["adjusted_close"] / bar["close"] / last
        closing = bar["adjusted_close"] / last
        ratios = [ratio for split in SPLITS for ratio in (split, 1 / split)]
        if any(near(opening, ratio, tolerance) and near(closing, ratio, 0.2) for ratio in ratios):
            days.append(row)
    assert all(math.isfinite(bars[row]["open"]) for row in days)
    return days
