"""Slow, obvious twins of the windows: one bar at a time, no array arithmetic."""

import math

import numpy as np

from candlecast.windows.config import WindowsConfig
from candlecast.windows.panel import Panel


def history(panel: Panel, row: int) -> tuple[int, int]:
    return int(panel.ticker[row]), int(panel.segment[row])


def window_ends(panel: Panel, length: int) -> list[int]:
    ends = []
    for end in range(length - 1, len(panel.target)):
        rows = range(end - length + 1, end + 1)
        one_history = len({history(panel, row) for row in rows}) == 1
        if one_history and all(math.isfinite(value) for row in rows for value in panel.features[row]):
            ends.append(end)
    return ends


def label_row(panel: Panel, row: int) -> int:
    later = row + panel.horizon
    inside = later < len(panel.target) and history(panel, later) == history(panel, row)
    return later if inside else -1


def split(panel: Panel, config: WindowsConfig) -> dict[str, list[int]]:
    """Decide for each window by walking the calendar, not by comparing session numbers."""
    dates = sorted({date.item() for date in panel.date})
    from_test_start = [date for date in dates if date >= config.test_start]
    first = len(from_test_start) * config.fold // config.folds
    past = len(from_test_start) * (config.fold + 1) // config.folds
    test_dates = from_test_start[first:past]
    parts: dict[str, list[int]] = {"train": [], "validation": [], "test": []}
    if not test_dates:
        return parts
    before_test = [date for date in dates if date < test_dates[0]]
    validation_dates = before_test[-config.validation_days :]
    train_dates = before_test[: -config.validation_days]

    def is_known_before(row: int, span: list[object]) -> bool:
        """The label's last bar and `embargo` sessions more lie before the first session of `span`."""
        sessions_between = dates.index(span[0]) - dates.index(panel.date[label_row(panel, row)].item())
        return sessions_between > config.embargo

    def is_kept(date: object) -> bool:
        return dates.index(date) % config.stride == 0

    for end in window_ends(panel, config.length):
        date = panel.date[end].item()
        if not math.isfinite(panel.target[end]):
            continue
        if date in test_dates:
            parts["test"].append(end)
        elif date in validation_dates and is_known_before(end, test_dates):
            parts["validation"].append(end)
        elif date in train_dates and is_known_before(end, validation_dates) and is_kept(date):
            parts["train"].append(end)
    return parts


def scale(columns: list[list[float]]) -> tuple[list[float], list[float]]:
    means = [math.fsum(column) / len(column) for column in columns]
    variances = [
        math.fsum((value - mean) ** 2 for value in column) / len(column)
        for column, mean in zip(columns, means, strict=True)
    ]
    return means, [math.sqrt(variance) for variance in variances]


def rows_of_windows(ends: np.ndarray, length: int) -> set[int]:
    return {row for end in ends for row in range(end - length + 1, end + 1)}
