"""The label is what it says, and no feature is the label in disguise."""

from collections.abc import Callable, Iterator
from typing import Final, Literal

import numpy as np
import polars as pl

from candlecast.evaluation.audit import Check, verdict
from candlecast.schema import FEATURE_KEYS, HISTORY

# From a frame of ticker, segment and close, and a horizon, to one value a row; null where not known.
Target = Callable[[pl.DataFrame, int], pl.Series]

AREA: Final = "label"
MAX_CORRELATION: Final = 0.9  # with the label; honest features of returns stay far below
_SAMPLED: Final = 40
_METHODS: Final[tuple[Literal["pearson", "spearman"], ...]] = ("pearson", "spearman")


def audit_labels(features: pl.DataFrame, target: Target, horizon: int, seed: int) -> list[Check]:
    """Return every check of the label.

    `features` are FEATURE_KEYS and one column a feature, sorted by ticker and date.
    """
    generator = np.random.default_rng(seed)
    labels = target(features, horizon)
    return [
        _definition(features, labels, horizon),
        _tail(features, labels, horizon),
        _reach(features, target, labels, horizon, generator),
        _disguise(features, labels),
    ]


def _definition(features: pl.DataFrame, labels: pl.Series, horizon: int) -> Check:
    return verdict(
        AREA,
        f"it is the log-return from bar t to bar t + {horizon}",
        next(_wrong(features, labels, horizon), None),
        "every label equals the one computed bar by bar",
    )


def _wrong(features: pl.DataFrame, labels: pl.Series, horizon: int) -> Iterator[str]:
    frame = features.select(*FEATURE_KEYS).with_columns(labels.alias("label"))
    for history in frame.partition_by(HISTORY):
        closes, found = history["close"].to_numpy(), history["label"].to_numpy()
        for row in range(len(closes) - horizon):
            expected = np.log(closes[row + horizon] / closes[row])
            if not abs(found[row] - expected) <= 1e-9:
                ticker, date = history["ticker"][row], history["date"][row]
                yield f"{ticker} on {date}: {found[row]:.6g}, where the bars say {expected:.6g}"


def _tail(features: pl.DataFrame, labels: pl.Series, horizon: int) -> Check:
    frame = features.select(*HISTORY, "date").with_columns(labels.alias("label"))
    last = frame.filter(
        pl.int_range(pl.len()).reverse().over(HISTORY) < horizon, pl.col("label").is_not_null()
    )
    fault = None
    if last.height:
        ticker, date, value = last.select("ticker", "date", "label").row(0)
        fault = f"{ticker} on {date} has {value:.6g} although its outcome lies ahead"
    return verdict(
        AREA,
        "what is not known yet stays unknown",
        fault,
        f"the last {horizon} bars of every history have no label",
    )


def _reach(
    features: pl.DataFrame, target: Target, labels: pl.Series, horizon: int, generator: np.random.Generator
) -> Check:
    known = np.flatnonzero(labels.is_not_null().to_numpy())
    fault = None
    for row in generator.choice(known, min(_SAMPLED, len(known)), replace=False):
        factors = np.exp(generator.normal(0, 0.5, features.height))
        factors[[row, row + horizon]] = 1
        changed = features.with_columns(pl.col("close") * pl.Series(factors))
        value = target(changed, horizon)[int(row)]
        if value != labels[int(row)]:
            ticker, date = features["ticker"][int(row)], features["date"][int(row)]
            fault = f"{ticker} on {date}: it moves with bars other than t and t + {horizon}"
            break
    return verdict(
        AREA,
        f"it depends on bars t and t + {horizon} alone",
        fault,
        f"{min(_SAMPLED, len(known))} labels are the same when every other bar changes",
    )


def _disguise(features: pl.DataFrame, labels: pl.Series) -> Check:
    frame = features.with_columns(labels.alias("_label"))
    worst, where = 0.0, "none"
    for name in (name for name in features.columns if name not in FEATURE_KEYS):
        pair = frame.select(name, "_label").drop_nulls()
        for method in _METHODS:
            value = pair.select(pl.corr(name, "_label", method=method)).item()
            if value is not None and abs(value) > abs(worst):
                worst, where = float(value), name
    fault = f"{where} correlates {worst:+.3f} with the label" if abs(worst) > MAX_CORRELATION else None
    return verdict(
        AREA,
        "no feature is the label in disguise",
        fault,
        f"the largest correlation is {worst:+.3f} ({where})",
    )
