"""The canary: this pipeline can see a leak, and is silent without one.

Two fits of logistic regression on the last bar of each window, through the same panel, split, scale and
scores as everything else. With the outcome itself as one more feature the score must jump: a harness in
which it does not is blind. With training labels shuffled it must fall to chance: a harness in which it does
not finds skill in noise.
"""

from dataclasses import replace
from typing import Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from candlecast.evaluation.audit import Check, verdict
from candlecast.evaluation.bootstrap import (
    MIN_BLOCKS,
    Interval,
    block_length,
    day_counts,
    percentile_interval,
    widening,
)
from candlecast.evaluation.frame import forecast_frame
from candlecast.evaluation.resampling import DayScores
from candlecast.windows.config import WindowsConfig
from candlecast.windows.panel import Panel
from candlecast.windows.store import WindowStore

AREA: Final = "canary"
JUMP: Final = 0.9  # balanced accuracy that a leaked outcome must at least give
_SCORE: Final = "balanced_accuracy"
_REPLICATIONS: Final = 300


def audit_canary(panel: Panel, config: WindowsConfig, seed: int) -> list[Check]:
    """Return the two checks; `panel` holds raw features."""
    leaked, leaked_interval = leaked_score(panel, config, seed)
    shuffled, shuffled_interval = shuffled_score(panel, config, seed)
    return [
        verdict(
            AREA,
            "with the outcome as a feature the score jumps",
            f"balanced accuracy is only {_shown(leaked, leaked_interval)}" if leaked < JUMP else None,
            f"balanced accuracy {_shown(leaked, leaked_interval)}",
        ),
        _at_chance(shuffled, shuffled_interval),
    ]


def _at_chance(shuffled: float, interval: Interval | None) -> Check:
    name, shown = "with shuffled labels it falls to chance", _shown(shuffled, interval)
    if interval is None:
        return Check(AREA, name, "note", f"balanced accuracy {shown}: what chance gives cannot be said")
    fault = f"balanced accuracy is {shown}, off 50%" if interval.excludes(0.5) else None
    return verdict(AREA, name, fault, f"balanced accuracy {shown}")


def leaked_score(panel: Panel, config: WindowsConfig, seed: int) -> tuple[float, Interval | None]:
    """Return the test score, and its interval, with the outcome as the last feature."""
    outcome = np.where(np.isfinite(panel.target), panel.target, 0).astype(np.float32)
    features = np.ascontiguousarray(np.column_stack([panel.features, outcome]))
    peeking = replace(panel, features=features, feature_names=(*panel.feature_names, "outcome"))
    store = WindowStore.build(peeking, config)
    return _score(store, store.panel.target[store.split.train] > 0, seed)


def shuffled_score(panel: Panel, config: WindowsConfig, seed: int) -> tuple[float, Interval | None]:
    """Return the test score, and its interval, after training on labels in random order."""
    store = WindowStore.build(panel, config)
    up = store.panel.target[store.split.train] > 0
    return _score(store, np.random.default_rng(seed).permutation(up), seed)


def _score(store: WindowStore, up: NDArray[np.bool_], seed: int) -> tuple[float, Interval | None]:
    from sklearn.linear_model import LogisticRegression  # here, as it takes as long as torch to import

    train, test = store.split.train, store.split.test
    if up.all() or not up.any():
        probability = np.full(len(test), 0.5)
    else:
        # Balanced weights: otherwise noise is best called by the majority alone, and nothing is compared.
        fitted = LogisticRegression(C=1.0, class_weight="balanced", max_iter=500).fit(
            store.panel.features[train], up
        )
        probability = fitted.predict_proba(store.panel.features[test])[:, 1]
    frame = forecast_frame(store, "test", AREA, np.zeros(len(test)), probability).sort("date", "ticker")
    return _with_interval(frame, store.panel.horizon, seed)


def _with_interval(frame: pl.DataFrame, horizon: int, seed: int) -> tuple[float, Interval | None]:
    scored = DayScores(frame, 0.0)
    days = len(scored.dates)
    value = float(scored(np.ones((1, days)))[_SCORE][0])
    if days < MIN_BLOCKS * horizon:
        return value, None
    block = block_length(scored.daily("hits")[:, None], horizon)
    draws = scored(day_counts(days, block, _REPLICATIONS, seed))[_SCORE]
    return value, percentile_interval(draws, value, 0.99, widening(days, block, horizon, 0.99))


def _shown(value: float, interval: Interval | None) -> str:
    if interval is None:
        return f"{value:.1%}, on test days too few for an interval"
    return f"{value:.1%} ({interval.low:.1%} to {interval.high:.1%}, 99% interval)"
