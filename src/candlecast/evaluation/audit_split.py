"""Training, validation and test stay apart: in time, in rows and in the scale."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import combinations
from typing import Final

import numpy as np
from numpy.typing import NDArray

from candlecast.evaluation.audit import Check, verdict
from candlecast.windows.config import WindowsConfig
from candlecast.windows.panel import Panel
from candlecast.windows.split import Part
from candlecast.windows.store import WindowStore

# From a panel of raw features to its windows, split and scale.
BuildStore = Callable[[Panel], WindowStore]

AREA: Final = "split"
_PARTS: Final[tuple[Part, ...]] = ("train", "validation", "test")
_BORDERS: Final[tuple[tuple[Part, Part], ...]] = (("train", "validation"), ("validation", "test"))


def audit_split(panel: Panel, build: BuildStore, config: WindowsConfig) -> list[Check]:
    """Return every check of the split and the scale; `panel` holds raw features."""
    store = build(panel)
    return [
        verdict(
            AREA,
            "outcomes end before the next part begins",
            next(_reaching(store, config.embargo), None),
            f"purged by {panel.horizon} bars, embargo {config.embargo} sessions",
        ),
        verdict(
            AREA,
            "the purge is exact at its edge",
            next(_edges(store, config), None),
            "the last window before the purge is kept, the next one is not",
        ),
        verdict(AREA, "no date is in two parts", _shared(store), "the three parts share no day"),
        verdict(
            AREA,
            "a window is consecutive bars of one history",
            next(_broken(store), None),
            f"{sum(len(store.split.part(part)) for part in _PARTS):,} windows of {store.length} bars looked "
            "at",
        ),
        verdict(
            AREA,
            "every scored window has its outcome",
            next(_unknown(store), None),
            "no window without an outcome is in a part, and none of a part was lost on the way",
        ),
        verdict(
            "scale",
            "it is measured on training alone",
            _moved(panel, build, store),
            "bars and outcomes after training, times a million, change no bit of it",
        ),
    ]


def after_training(store: WindowStore) -> NDArray[np.bool_]:
    """Return which panel rows lie after everything that a training window or its outcome touches."""
    panel = store.panel
    last = panel.session[panel.label_row()[store.split.train]].max()
    later: NDArray[np.bool_] = panel.session > last
    return later


def _reaching(store: WindowStore, embargo: int) -> Iterator[str]:
    panel, split = store.panel, store.split
    for earlier, later in _BORDERS:
        ends = split.part(earlier)
        first = panel.session[split.part(later)].min()
        reach = panel.session[panel.label_row()[ends]] + embargo
        if (reach >= first).any():
            row = int(ends[int(np.argmax(reach))])
            yield (
                f"{earlier}: the outcome of {panel.tickers[panel.ticker[row]]} on {panel.date[row]} ends in "
                f"or after the first {later} session"
            )


def _edges(store: WindowStore, config: WindowsConfig) -> Iterator[str]:
    panel, split, horizon = store.panel, store.split, store.panel.horizon
    label = panel.label_row()
    candidates = panel.window_ends(store.length)
    candidates = candidates[label[candidates] >= 0]
    for earlier, later in _BORDERS:
        ends = set(split.part(earlier).tolist())
        first = int(panel.session[split.part(later)].min())
        for back in (horizon - 1, horizon, horizon + 1):
            at = candidates[panel.session[candidates] == first - back - config.embargo]
            for row in at.tolist():
                clear = panel.session[label[row]] + config.embargo < first
                kept = row in ends
                where = f"{panel.tickers[panel.ticker[row]]} on {panel.date[row]}"
                if kept and not clear:
                    yield f"{earlier}: {where}, {back} sessions before {later}, is kept and reaches into it"
                if clear and not kept and not (earlier == "train" and config.stride > 1):
                    yield f"{earlier}: {where}, {back} sessions before {later}, is left out without need"


def _shared(store: WindowStore) -> str | None:
    parts = {name: store.split.part(name) for name in _PARTS}
    for first, second in combinations(_PARTS, 2):
        days = np.intersect1d(store.panel.date[parts[first]], store.panel.date[parts[second]])
        if len(days):
            return f"{days[0]} is in {first} and in {second}"
    for name, ends in parts.items():
        if len(np.unique(ends)) != len(ends):
            return f"{name} holds a window twice"
    return None


def _broken(store: WindowStore) -> Iterator[str]:
    panel, length = store.panel, store.length
    history = np.concatenate([[0], np.cumsum((np.diff(panel.ticker) != 0) | (np.diff(panel.segment) != 0))])
    ordered = np.concatenate([[0], np.cumsum(np.diff(panel.session) <= 0)])
    for part in _PARTS:
        ends = store.split.part(part)
        starts = ends - length + 1
        whole = (starts >= 0) & (history[starts] == history[ends]) & (ordered[starts] == ordered[ends])
        if not whole.all():
            row = int(ends[int(np.argmin(whole))])
            yield (
                f"{part}: the window of {panel.tickers[panel.ticker[row]]} that ends on {panel.date[row]} "
                "holds bars of another history, or out of order"
            )


def _unknown(store: WindowStore) -> Iterator[str]:
    panel = store.panel
    for part in _PARTS:
        ends = store.split.part(part)
        unknown = ends[~np.isfinite(panel.target[ends])]
        if len(unknown):
            row = int(unknown[0])
            yield f"{part}: {panel.tickers[panel.ticker[row]]} on {panel.date[row]} has no outcome"
    ends = panel.window_ends(store.length)
    ends = ends[np.isfinite(panel.target[ends])]
    test = store.split.test
    inside = (panel.session[ends] >= panel.session[test].min()) & (
        panel.session[ends] <= panel.session[test].max()
    )
    lost = np.setdiff1d(ends[inside], test)
    if len(lost):
        row = int(lost[0])
        yield f"test: {panel.tickers[panel.ticker[row]]} on {panel.date[row]} was dropped"


def _moved(panel: Panel, build: BuildStore, store: WindowStore) -> str | None:
    later = after_training(store)
    features, target = panel.features.copy(), panel.target.copy()
    features[later] *= 1e6
    target[later] *= 1e6
    other = build(replace(panel, features=features, target=target))
    before, after = store.standardizer, other.standardizer
    for name in ("mean", "std"):
        changed = np.flatnonzero(getattr(before, name) != getattr(after, name))
        if len(changed):
            return f"the {name} of {panel.feature_names[changed[0]]} moves with bars after training"
    if (before.target_mean, before.target_std) != (after.target_mean, after.target_std):
        return "the scale of the label moves with outcomes after training"
    rows = ~later
    if not np.array_equal(store.panel.features[rows], other.panel.features[rows], equal_nan=True):
        return "standardised training bars move with bars after training"
    return None
