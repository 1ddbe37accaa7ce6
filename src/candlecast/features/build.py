"""Bars in, features out: the same rows, with the indicators of each history beside them."""

from collections.abc import Iterator, Mapping
from typing import Final

import polars as pl

from candlecast.errors import DataError
from candlecast.features.catalogue import select
from candlecast.features.config import FeaturesConfig
from candlecast.features.derived import DERIVED
from candlecast.features.indicator import Indicator
from candlecast.schema import BARS, FEATURE_KEYS, HISTORY, check

# Bars computed together: few enough that a column stays in the processor's cache.
CHUNK_ROWS: Final = 100_000

_PRICES: Final = ("open", "high", "low", "close")


def build_features(
    bars: pl.DataFrame | pl.LazyFrame, config: FeaturesConfig, chunk_rows: int = CHUNK_ROWS
) -> pl.DataFrame:
    """Return `FEATURE_KEYS` and the chosen indicators as Float32, one row a bar, by ticker and date.

    An indicator is null on the first `config.warmup_bars` rows of each history, and on the first
    `Indicator.warmup` of them if that is more. It is computed in Float64. The rows may come in any order.
    Beside the result, memory holds what `chunk_rows` rows need, which is about 600 bytes each.

    Raises
    ------
    DataError
        A column is missing or of the wrong type, a bar is there twice, a price is not a positive finite
        number, or a volume is not finite or negative.
    """
    frame = check(bars.lazy().collect(), BARS, "bars")
    if not _is_by_ticker(frame.lazy()):
        frame = frame.sort("ticker", "date")
    chunks = list(feature_chunks(frame.lazy(), config, chunk_rows))
    return pl.concat(chunks) if chunks else _features_of(frame, config)


def feature_chunks(
    bars: pl.LazyFrame, config: FeaturesConfig, chunk_rows: int = CHUNK_ROWS
) -> Iterator[pl.DataFrame]:
    """Yield the rows of `build_features` in order, whole tickers at a time, `chunk_rows` rows or one ticker.

    Each ticker's rows stand together in `bars`, and tickers are sorted, as in a snapshot. No more than a
    chunk is in memory, so that a universe of any size fits: `scan_parquet` reads what a chunk needs.
    """
    start = 0
    for num_rows in _chunk_lengths(bars, chunk_rows):
        chunk = check(bars.slice(start, num_rows).collect(), BARS, "bars")
        yield _features_of(chunk, config)
        start += num_rows


def _features_of(bars: pl.DataFrame, config: FeaturesConfig) -> pl.DataFrame:
    ordered = bars.sort("ticker", "date")
    _refuse_bad_rows(ordered)
    return derive(ordered).select(
        *FEATURE_KEYS, *(_settled(indicator, config.warmup_bars) for indicator in select(config.families))
    )


def derive(ordered: pl.DataFrame) -> pl.DataFrame:
    """Return bars sorted by ticker and date with their `history`, a number, and the `DERIVED` columns."""
    starts = pl.any_horizontal(pl.col(key).ne_missing(pl.col(key).shift(1)) for key in HISTORY)
    frame = ordered.with_columns(starts.cum_sum().set_sorted().alias("history"))
    frame = frame.with_columns(pl.int_range(pl.len(), dtype=pl.Int32).over("history").alias("bar"))
    for columns in _levels(DERIVED):
        frame = frame.with_columns(columns)
    return frame


def _ticker_spans(bars: pl.LazyFrame) -> pl.DataFrame:
    """Return each ticker's first row, last row and number of rows, in the order of the first rows."""
    row = pl.col("row")
    by_ticker = bars.select("ticker").with_row_index("row").group_by("ticker")
    spans = by_ticker.agg(row.min().alias("first"), row.max().alias("last"), pl.len().alias("num_rows"))
    return spans.sort("first").collect(engine="streaming")


def _is_by_ticker(bars: pl.LazyFrame) -> bool:
    spans = _ticker_spans(bars)
    is_whole = (spans["last"] - spans["first"] + 1 == spans["num_rows"]).all()
    return bool(is_whole) and spans["ticker"].is_sorted()


def _chunk_lengths(bars: pl.LazyFrame, chunk_rows: int) -> Iterator[int]:
    """Yield numbers of rows that end where a ticker ends."""
    length = 0
    for num_rows in _ticker_spans(bars)["num_rows"]:
        if length and length + num_rows > chunk_rows:
            yield length
            length = 0
        length += num_rows
    if length:
        yield length


def _settled(indicator: Indicator, warmup_bars: int) -> pl.Expr:
    value = indicator.expression.cast(pl.Float32)
    return pl.when(pl.col("bar").ge(warmup_bars)).then(value).alias(indicator.name)


def _levels(columns: Mapping[str, pl.Expr]) -> Iterator[list[pl.Expr]]:
    """Group columns so that each reads the bars and columns of earlier groups only."""
    left = dict(columns)
    while left:
        ready = [name for name, column in left.items() if left.keys().isdisjoint(column.meta.root_names())]
        yield [left.pop(name).alias(name) for name in ready]


def _refuse_bad_rows(bars: pl.DataFrame) -> None:
    """Raise `DataError` for the first bar that no indicator could be right about."""
    key = pl.struct("ticker", "date")
    price_is_sound = [pl.col(name).is_finite() & (pl.col(name) > 0) for name in _PRICES]
    volume_is_sound = pl.col("volume").is_finite() & (pl.col("volume") >= 0)
    faults = {
        "is there twice; keep one of them": key == key.shift(1),
        "has a price that is not a positive number; repair it or leave the bar out": ~pl.all_horizontal(
            sound.fill_null(value=False) for sound in price_is_sound
        ),
        "has a volume that is not a number of shares; repair it or leave the bar out": ~(
            volume_is_sound.fill_null(value=False)
        ),
    }
    for fault, is_bad in faults.items():
        bad = bars.lazy().filter(is_bad).select("ticker", "date").head(1).collect()
        if bad.height:
            ticker, date = bad.row(0)
            raise DataError(f"bars: {ticker} {date} {fault}")
