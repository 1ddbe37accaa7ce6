"""Does any feature know what it could not? Asked of the build itself, on the user's bars and catalogue.

Each check changes bars that a row must not depend on and looks whether the row moved. Rows are compared
exactly, bit for bit: a leak of one part in a million is a leak.
"""

import datetime
from collections.abc import Callable, Iterator
from typing import Final

import numpy as np
import polars as pl

from candlecast.evaluation.audit import Check, verdict
from candlecast.schema import FEATURE_KEYS

# From bars in `schema.BARS` to FEATURE_KEYS and one Float32 column a feature, by ticker and date.
Build = Callable[[pl.DataFrame], pl.DataFrame]

AREA: Final = "features"
START_TOLERANCE: Final = (
    0.05  # standard deviations by which a settled value may depend on where history began
)
SCALE_TOLERANCE: Final = 1e-3  # standard deviations; prices times a constant round differently
_KEYS: Final = ["ticker", "date"]


def audit_features(
    bars: pl.DataFrame, build: Build, warmup_bars: int, seed: int, cuts: int = 8
) -> list[Check]:
    """Return every check of the features.

    Parameters
    ----------
    bars
        In `schema.BARS`.
    warmup_bars
        Rows at the start of a history in which features are null, as declared.
    cuts
        Dates at which histories are cut, drawn between their start and end.
    """
    generator = np.random.default_rng(seed)
    whole = build(bars)
    dates = _cut_dates(bars, warmup_bars, cuts, generator)
    return [
        _prefix(bars, build, whole, dates),
        _corruption(bars, build, whole, dates, generator),
        _start(bars, build, whole, dates, warmup_bars),
        _gap(bars, build, dates),
        _scale(bars, build, whole),
        _order(bars, build, whole, generator),
        _alone(bars, build, whole),
        _warmup(whole, warmup_bars),
    ]


def first_difference(left: pl.DataFrame, right: pl.DataFrame) -> str | None:
    """Return where two feature frames of the same rows differ first, in words; None where they do not."""
    if not left.select(_KEYS).equals(right.select(_KEYS)):
        return f"{left.height} rows against {right.height}, or other tickers and dates"
    for name in left.columns:
        if name in FEATURE_KEYS:
            continue
        moved = left[name].ne_missing(right[name])
        if moved.any():
            row = int(moved.arg_max() or 0)
            ticker, date = left.select(_KEYS).row(row)
            values = f"{_shown(left[name][row])} became {_shown(right[name][row])}"
            return f"{name} of {ticker} on {date}: {values} ({moved.sum()} of {left.height} rows)"
    return None


def _prefix(bars: pl.DataFrame, build: Build, whole: pl.DataFrame, dates: list[datetime.date]) -> Check:
    faults = (
        first_difference(whole.filter(pl.col("date") <= date), build(bars.filter(pl.col("date") <= date)))
        for date in dates
    )
    return verdict(
        AREA,
        "what comes later changes nothing: bars cut off",
        next((fault for fault in faults if fault), None),
        f"every row before {len(dates)} cuts is the same without what follows, bit for bit",
    )


def _corruption(
    bars: pl.DataFrame,
    build: Build,
    whole: pl.DataFrame,
    dates: list[datetime.date],
    generator: np.random.Generator,
) -> Check:
    faults = []
    for date in dates:
        factor = pl.Series(np.exp(generator.normal(0, 0.5, bars.height)))
        later = pl.col("date") > date
        changed = bars.with_columns(
            pl.when(later).then(pl.col(name) * factor).otherwise(name).alias(name)
            for name in ("open", "high", "low", "close", "volume")
        )
        before = pl.col("date") <= date
        faults.append(first_difference(whole.filter(before), build(changed).filter(before)))
    return verdict(
        AREA,
        "what comes later changes nothing: bars corrupted",
        next((fault for fault in faults if fault), None),
        f"every row before {len(dates)} dates is the same after later bars are multiplied at random",
    )


def _start(
    bars: pl.DataFrame, build: Build, whole: pl.DataFrame, dates: list[datetime.date], warmup_bars: int
) -> Check:
    worst, where = 0.0, "none"
    names = [name for name in whole.columns if name not in FEATURE_KEYS]
    spreads = {name: float(whole[name].std() or 0.0) or 1.0 for name in names}  # type: ignore[arg-type]
    for date in dates:
        later = build(bars.filter(pl.col("date") >= date))
        settled = later.filter(pl.int_range(pl.len()).over("ticker", "segment") >= warmup_bars)
        paired = settled.join(whole, on=_KEYS, suffix=" before", how="inner")
        for name in names:
            distance = (paired[name] - paired[f"{name} before"]).abs().max()
            relative = float(distance or 0.0) / spreads[name]  # type: ignore[arg-type]
            if relative > worst:
                worst, where = relative, name
    share = f"{worst:.2g} standard deviations of {where}"
    return verdict(
        AREA,
        "where history began is forgotten after the warm-up",
        f"a later start moves a settled value by {share}; raise features.warmup_bars"
        if worst > START_TOLERANCE
        else None,
        f"after {warmup_bars} bars the largest trace of {len(dates)} other starts is {share}",
    )


def _gap(bars: pl.DataFrame, build: Build, dates: list[datetime.date]) -> Check:
    date = dates[len(dates) // 2]
    later = pl.col("date") > date
    cut = bars.with_columns((pl.col("segment") + later.cast(pl.Int32) * 1000).alias("segment"))
    fault = first_difference(build(cut).filter(later), build(bars.filter(later)))
    return verdict(
        AREA, "no value reaches across a gap", fault, "after a cut a history is built as if it were new"
    )


def _scale(bars: pl.DataFrame, build: Build, whole: pl.DataFrame) -> Check:
    factor = 3.7
    scaled = build(
        bars.with_columns(
            *(pl.col(name) * factor for name in ("open", "high", "low", "close")), pl.col("volume") / factor
        )
    )
    worst, where = 0.0, "none"
    for name in (name for name in whole.columns if name not in FEATURE_KEYS):
        spread = float(whole[name].std() or 0.0) or 1.0  # type: ignore[arg-type]
        distance = float((scaled[name] - whole[name]).abs().max() or 0.0) / spread  # type: ignore[arg-type]
        if distance > worst or not np.isfinite(distance):
            worst, where = distance, name
    share = f"{worst:.2g} standard deviations ({where})"
    return verdict(
        AREA,
        "no level of prices or volume is a feature",
        f"prices times {factor} and volume divided by it move a value by {share}"
        if not worst <= SCALE_TOLERANCE
        else None,
        f"prices times {factor} and volume divided by it move no value by more than {share}",
    )


def _order(bars: pl.DataFrame, build: Build, whole: pl.DataFrame, generator: np.random.Generator) -> Check:
    shuffled = bars[generator.permutation(bars.height)]
    interleaved = bars.sort("date", "ticker")
    faults = (first_difference(whole, build(each).sort("ticker", "date")) for each in (interleaved, shuffled))
    return verdict(
        AREA,
        "the order of rows changes nothing",
        next((fault for fault in faults if fault), None),
        "rows interleaved by date or shuffled give the features of sorted rows",
    )


def _alone(bars: pl.DataFrame, build: Build, whole: pl.DataFrame) -> Check:
    faults = (
        first_difference(
            whole.filter(pl.col("ticker") == ticker), build(bars.filter(pl.col("ticker") == ticker))
        )
        for ticker in bars["ticker"].unique().sort()
    )
    return verdict(
        AREA,
        "no ticker's features depend on another's bars",
        next((fault for fault in faults if fault), None),
        f"each of {bars['ticker'].n_unique()} tickers alone gives the features it has among the others",
    )


def _warmup(whole: pl.DataFrame, warmup_bars: int) -> Check:
    return verdict(
        AREA,
        "nothing is filled in before it is known",
        next(_filled(whole, warmup_bars), None),
        f"the first {warmup_bars} rows of every history are empty, and no value is infinite or NaN",
    )


def _filled(whole: pl.DataFrame, warmup_bars: int) -> Iterator[str]:
    early = whole.filter(pl.int_range(pl.len()).over("ticker", "segment") < warmup_bars)
    for name in (name for name in whole.columns if name not in FEATURE_KEYS):
        if early[name].null_count() < early.height:
            yield f"{name} has values in the first {warmup_bars} rows of a history"
        if not whole[name].drop_nulls().is_finite().all():
            yield f"{name} holds a value that is not finite"


def _cut_dates(
    bars: pl.DataFrame, warmup_bars: int, cuts: int, generator: np.random.Generator
) -> list[datetime.date]:
    dates = bars["date"].unique().sort()
    first = min(warmup_bars + 1, len(dates) // 2)
    places = generator.choice(
        np.arange(first, len(dates) - 1), min(cuts, len(dates) - 1 - first), replace=False
    )
    return [dates[int(place)] for place in sorted(places)]


def _shown(value: object) -> str:
    return "nothing" if value is None else f"{value:.6g}"
