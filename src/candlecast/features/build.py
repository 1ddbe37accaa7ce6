"""Bars in, features out: the same rows, with the indicators of each history beside them."""

import math
from collections import deque
from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Final

import polars as pl

from candlecast.errors import DataError
from candlecast.features.catalogue import select
from candlecast.features.config import FeaturesConfig
from candlecast.features.derived import DERIVED
from candlecast.features.indicator import Indicator
from candlecast.schema import BARS, FEATURE_KEYS, HISTORY, check

# Bars computed together: enough to hide the cost of a query, few enough to be no matter for memory.
CHUNK_ROWS: Final = 100_000
# Polars leaves a processor idle between two steps of one chunk; a second chunk takes it.
_CHUNKS_AT_ONCE: Final = 2

_PRICES: Final = ("open", "high", "low", "close")


def _levels(columns: Mapping[str, pl.Expr]) -> Iterator[list[pl.Expr]]:
    """Group columns so that each reads the bars and columns of earlier groups only."""
    left = dict(columns)
    while left:
        ready = [name for name, column in left.items() if left.keys().isdisjoint(column.meta.root_names())]
        assert ready, f"these read each other, or one reads itself: {', '.join(left)}"
        yield [left.pop(name).alias(name) for name in ready]


# Computed in this order, each level in one pass over the bars.
LEVELS: Final = tuple(_levels(DERIVED))


def build_features(
    bars: pl.DataFrame | pl.LazyFrame, config: FeaturesConfig, chunk_rows: int = CHUNK_ROWS
) -> pl.DataFrame:
    """Return `FEATURE_KEYS` and the chosen indicators as Float32, one row a bar, by ticker and date.

    An indicator is null on the first `config.warmup_bars` rows of each history, and on the first
    `Indicator.warmup` of them if that is more. It is computed in Float64. The rows may come in any order.
    Beside the result, memory holds what two chunks need, which is about a kilobyte a row.

    Raises
    ------
    DataError
        A column is missing or of the wrong type, a bar is there twice, a price is not a positive finite
        number, or a volume is not finite or negative.
    """
    frame = check(bars.lazy().collect(), BARS, "bars")
    if not frame["ticker"].is_sorted():
        frame = frame.sort("ticker", "date")
    chunks = list(feature_chunks(frame.lazy(), config, chunk_rows))
    return pl.concat(chunks) if chunks else _features_of(frame, config)


def feature_chunks(
    bars: pl.LazyFrame, config: FeaturesConfig, chunk_rows: int = CHUNK_ROWS
) -> Iterator[pl.DataFrame]:
    """Yield the rows of `build_features` in order, whole tickers at a time, `chunk_rows` rows or one ticker.

    The bars are sorted by ticker, as in a snapshot. No more than two chunks are in memory, which are
    computed at the same time, so that a universe of any size fits: of `scan_parquet` a chunk reads its own
    rows.

    Raises
    ------
    DataError
        As `build_features`; or the bars are not sorted by ticker.
    """
    with ThreadPoolExecutor(_CHUNKS_AT_ONCE) as threads:
        running: deque[Future[pl.DataFrame]] = deque()
        for chunk in _chunks(bars, chunk_rows):
            if len(running) == _CHUNKS_AT_ONCE:
                yield running.popleft().result()
            running.append(threads.submit(_features_of_chunk, bars, chunk, config))
        while running:
            yield running.popleft().result()


@dataclass(frozen=True, slots=True)
class _Chunk:
    """Rows of tickers that follow each other."""

    start: int
    num_rows: int
    first: str | None
    last: str | None


def _chunks(bars: pl.LazyFrame, chunk_rows: int) -> Iterator[_Chunk]:
    """Yield chunks of whole tickers: as many as `chunk_rows` rows hold, or one."""
    lengths = bars.group_by("ticker").len().sort("ticker").collect(engine="streaming")
    first = last = None
    start = total = 0
    for ticker, num_rows in lengths.iter_rows():
        if total and total + num_rows > chunk_rows:
            yield _Chunk(start, total, first, last)
            start, total = start + total, 0
        first, last = ticker if total == 0 else first, ticker
        total += num_rows
    if total:
        yield _Chunk(start, total, first, last)


def _features_of_chunk(bars: pl.LazyFrame, chunk: _Chunk, config: FeaturesConfig) -> pl.DataFrame:
    frame = check(bars.slice(chunk.start, chunk.num_rows).collect(), BARS, "bars")
    if not frame["ticker"].is_sorted() or (frame["ticker"][0], frame["ticker"][-1]) != (
        chunk.first,
        chunk.last,
    ):
        raise DataError(f"bars: row {chunk.start} or after is not in order; sort them by ticker")
    return _features_of(frame, config)


def _features_of(bars: pl.DataFrame, config: FeaturesConfig) -> pl.DataFrame:
    ordered = bars if _is_in_order(bars) else bars.sort("ticker", "date")
    _refuse_bad_rows(ordered)
    return derive(ordered).select(
        *FEATURE_KEYS, *(_settled(indicator, config.warmup_bars) for indicator in select(config.families))
    )


def derive(ordered: pl.DataFrame) -> pl.DataFrame:
    """Return bars sorted by ticker and date with their `history`, a number, and the `DERIVED` columns."""
    starts = pl.any_horizontal(pl.col(key).ne_missing(pl.col(key).shift(1)) for key in HISTORY)
    frame = ordered.with_columns(starts.cum_sum().set_sorted().alias("history"))
    frame = frame.with_columns(pl.int_range(pl.len(), dtype=pl.Int32).over("history").alias("bar"))
    for columns in LEVELS:
        frame = frame.with_columns(columns)
    return frame


def _settled(indicator: Indicator, warmup_bars: int) -> pl.Expr:
    value = indicator.expression.cast(pl.Float32)
    return pl.when(pl.col("bar").ge(warmup_bars)).then(value).alias(indicator.name)


def _is_in_order(bars: pl.DataFrame) -> bool:
    ticker, date = pl.col("ticker"), pl.col("date")
    follows = (ticker > ticker.shift(1)) | ((ticker == ticker.shift(1)) & (date >= date.shift(1)))
    return bool(bars.select(follows.all()).item())


def _refuse_bad_rows(bars: pl.DataFrame) -> None:
    """Raise `DataError` for the first bar that no indicator could be right about."""
    price_is_sound = pl.all_horizontal(pl.col(*_PRICES).is_between(0, math.inf, closed="none"))
    volume_is_sound = pl.col("volume").is_between(0, math.inf, closed="left")
    faults = {
        "lacks its ticker, date or segment; leave it out": pl.any_horizontal(
            pl.col("ticker", "date", "segment").is_null()
        ),
        "is there twice; keep one of them": pl.all_horizontal(
            pl.col("ticker", "date") == pl.col("ticker", "date").shift(1)
        ),
        "has a price that is not a positive number; repair it or leave the bar out": ~(
            price_is_sound.fill_null(value=False)
        ),
        "has a volume that is not a number of shares; repair it or leave the bar out": ~(
            volume_is_sound.fill_null(value=False)
        ),
    }
    found = bars.select(is_bad.any().alias(fault) for fault, is_bad in faults.items()).row(0, named=True)
    for fault, is_bad in faults.items():
        if found[fault]:
            ticker, date = bars.filter(is_bad).select("ticker", "date").row(0)
            raise DataError(f"bars: {ticker} {date} {fault}")
