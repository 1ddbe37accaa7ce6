"""Expanding walk-forward split by date, purged by the horizon.

All parts are sets of window ends. Along the sessions, for fold k:

    first session ... | validation_days sessions | test span k | (later test spans)
        train         |        validation        |    test     |

A label looks `horizon` bars ahead. A training window whose label ends on or after the first validation
session would tell the model about it, so it is left out (purged), and `embargo` sessions more; the same
between validation and test. A window's own bars may reach back over a boundary: on the day of the
forecast they are the known past. Test spans 0 .. folds-1 partition the sessions from `test_start` on.
"""

import logging
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, Self

import numpy as np
from numpy.typing import NDArray

from candlecast.errors import SplitError
from candlecast.windows.arrays import load_array, read_json, save_array, write_json
from candlecast.windows.config import WindowsConfig
from candlecast.windows.panel import Panel

logger = logging.getLogger(__name__)

Part = Literal["train", "validation", "test"]
PARTS: Final[tuple[Part, ...]] = ("train", "validation", "test")


@dataclass(frozen=True, slots=True)
class Split:
    """The window ends of each part: panel rows in ascending order, all with a known target."""

    train: NDArray[np.int64]
    validation: NDArray[np.int64]
    test: NDArray[np.int64]
    boundaries: dict[str, str]  # ISO date of the first and last window end: train_start, train_end, ...
    fold: int
    folds: int

    def part(self, name: Part) -> NDArray[np.int64]:
        """Return the window ends of one part."""
        ends: NDArray[np.int64] = getattr(self, name)
        return ends

    def save(self, folder: Path) -> None:
        """Write one .npy a part and the boundaries as JSON."""
        for name in PARTS:
            save_array(folder / f"{name}.npy", self.part(name).astype(np.int32))
        record = {"boundaries": self.boundaries, "fold": self.fold, "folds": self.folds}
        write_json(folder / "split.json", record)

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Return the split saved in `folder`."""
        int32 = np.dtype(np.int32)
        train, validation, test = (
            load_array(folder / f"{name}.npy", int32).astype(np.int64) for name in PARTS
        )
        names = ("boundaries", "fold", "folds")
        return cls(train, validation, test, **read_json(folder / "split.json", names))


@dataclass(frozen=True, slots=True)
class _Spans:
    """First sessions of validation and test and the session after the test span."""

    validation: int
    test: int
    end: int


def split_windows(panel: Panel, config: WindowsConfig) -> Split:
    """Return the windows of each part of fold `config.fold`.

    `config.stride` thins the training part alone: every stride-th session, the same for all tickers.

    Raises
    ------
    SplitError
        A part has no window; names the key that leaves it none.
    """
    ends = panel.window_ends(config.length)
    _report_left_out(panel, ends, config.length)
    ends = ends[np.isfinite(panel.target[ends])]
    spans = _spans(panel, config)
    session = panel.session[ends]
    label_end = panel.session[panel.label_row()[ends]]

    last_known = label_end + config.embargo
    in_train = (last_known < spans.validation) & (session % config.stride == 0)
    in_validation = (session >= spans.validation) & (last_known < spans.test)
    in_test = (session >= spans.test) & (session < spans.end)
    parts = {"train": ends[in_train], "validation": ends[in_validation], "test": ends[in_test]}
    if any(len(rows) == 0 for rows in parts.values()):
        raise SplitError(_why_empty(panel, config, spans, parts))
    boundaries = {}
    for name, rows in parts.items():
        boundaries[f"{name}_start"] = str(panel.date[rows].min())
        boundaries[f"{name}_end"] = str(panel.date[rows].max())
    return Split(**parts, boundaries=boundaries, fold=config.fold, folds=config.folds)


def _spans(panel: Panel, config: WindowsConfig) -> _Spans:
    dates = np.unique(panel.date)
    first = int(np.searchsorted(dates, np.datetime64(config.test_start, "D")))
    edges = [first + (len(dates) - first) * fold // config.folds for fold in range(config.folds + 1)]
    test = edges[config.fold]
    return _Spans(validation=test - config.validation_days, test=test, end=edges[config.fold + 1])


def _report_left_out(panel: Panel, ends: NDArray[np.int64], length: int) -> None:
    missing = np.setdiff1d(np.arange(len(panel.tickers)), panel.ticker[ends])
    known = panel.known_bars() if len(missing) else np.empty(0, dtype=np.int64)
    for index in missing:
        longest = known[panel.ticker == index].max(initial=0)
        logger.warning(
            "%s: left out, no window of %d bars; its longest run with every feature known is %d",
            panel.tickers[index],
            length,
            longest,
        )


def _why_empty(
    panel: Panel, config: WindowsConfig, spans: _Spans, parts: dict[str, NDArray[np.int64]]
) -> str:
    longest = int(panel.known_bars().max())
    if longest < config.length:
        return (
            f"windows.length: no history has {config.length} bars in a row with every feature known, the "
            f"longest has {longest}; shorten windows.length or features.warmup_bars, or take more bars"
        )
    if len(parts["test"]) == 0:
        return _why_no_test(panel, config, spans)
    if len(parts["validation"]) == 0:
        return (
            f"windows.validation_days: {config.validation_days} sessions before {_date(panel, spans.test)}, "
            f"less windows.horizon {config.horizon} and windows.embargo {config.embargo}, leave no window; "
            f"raise windows.validation_days or shorten the horizon"
        )
    return (
        f"windows.test_start: no training window has its return known by {_date(panel, spans.validation)}, "
        f"windows.validation_days {config.validation_days} before the test span from "
        f"{_date(panel, spans.test)}; start the test later, take an earlier data.start or fewer "
        f"validation days"
    )


def _why_no_test(panel: Panel, config: WindowsConfig, spans: _Spans) -> str:
    sessions = spans.end - spans.test
    if config.folds > 1 and sessions <= config.horizon:
        return (
            f"windows.folds: {config.folds} leave the test span of fold {config.fold} {sessions} sessions, "
            f"too few for windows.horizon {config.horizon}; take fewer folds or start the test earlier"
        )
    if 0 < sessions <= config.horizon:
        return (
            f"windows.horizon: {config.horizon} bars is too long for the test span, {sessions} sessions from "
            f"{config.test_start}; shorten the horizon or start the test earlier"
        )
    return (
        f"windows.test_start: no window has a known return from {config.test_start} to the last bar, "
        f"{_date(panel, spans.end - 1)}; start the test earlier"
    )


def _date(panel: Panel, session: int) -> str:
    dates = np.unique(panel.date)
    return str(dates[min(max(session, 0), len(dates) - 1)])
