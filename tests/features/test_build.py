"""Rows in, rows out: each history by itself, settled before its first value, in one order."""

import datetime

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle.indicators_market import bars_frame, random_bars
from polars.testing import assert_frame_equal

from candlecast.errors import DataError
from candlecast.features.build import build_features, feature_chunks
from candlecast.features.catalogue import INDICATORS
from candlecast.features.config import FeaturesConfig
from candlecast.schema import FEATURE_KEYS

NAMES = [indicator.name for indicator in INDICATORS]
ALL = FeaturesConfig(families=("trend", "momentum", "volatility", "volume"), warmup_bars=0)
SETTLED = FeaturesConfig(families=ALL.families, warmup_bars=120)


def universe() -> pl.DataFrame:
    """Three histories of two tickers, of different lengths."""
    return pl.concat(
        [
            random_bars(150, seed=1, ticker="AAA", segment=0),
            random_bars(190, seed=2, ticker="AAA", segment=1),
            random_bars(170, seed=3, ticker="BBB", segment=0),
        ]
    )


def test_there_is_one_row_a_bar_with_keys_then_indicators_as_float32() -> None:
    features = build_features(universe(), ALL)
    assert features.columns == [*FEATURE_KEYS, *NAMES]
    assert features.select(*FEATURE_KEYS).equals(universe().select(*FEATURE_KEYS))
    assert set(features.select(NAMES).dtypes) == {pl.Float32()}


def test_a_lazy_frame_gives_the_same() -> None:
    assert_frame_equal(
        build_features(universe().lazy(), ALL), build_features(universe(), ALL), check_exact=True
    )


@pytest.mark.parametrize("indicator", INDICATORS, ids=lambda indicator: indicator.name)
def test_the_declared_warm_up_is_the_first_row_with_a_value(indicator) -> None:
    column = build_features(universe(), ALL)[indicator.name]
    for start, length in ((0, 150), (150, 190), (340, 170)):
        known = column.slice(start, length).is_not_null()
        assert known.arg_max() == indicator.warmup
        assert known.sum() == length - indicator.warmup


@pytest.mark.parametrize("warmup_bars", [0, 7, 120, 149, 1000])
def test_the_first_rows_of_each_history_are_null_while_averages_settle(warmup_bars: int) -> None:
    config = FeaturesConfig(families=ALL.families, warmup_bars=warmup_bars)
    features, free = build_features(universe(), config), build_features(universe(), ALL)
    for start, length in ((0, 150), (150, 190), (340, 170)):
        history, unmasked = features.slice(start, length), free.slice(start, length)
        assert history.head(warmup_bars).select(pl.all().exclude(*FEATURE_KEYS).is_null().all()).row(0) == (
            True,
        ) * len(NAMES)
        assert_frame_equal(history.slice(warmup_bars), unmasked.slice(warmup_bars), check_exact=True)


@pytest.mark.parametrize("length", [0, 1, 2, 13, 14, 15, 33, 60, 100])
def test_a_history_shorter_than_a_warm_up_has_rows_without_values(length: int) -> None:
    features = build_features(random_bars(100, seed=4).head(length), ALL)
    assert features.height == length
    for indicator in INDICATORS:
        assert features[indicator.name].is_not_null().sum() == max(0, length - indicator.warmup)


def test_a_chosen_family_is_the_same_alone_as_among_all() -> None:
    alone = build_features(universe(), FeaturesConfig(families=("volatility",), warmup_bars=0))
    assert_frame_equal(alone, build_features(universe(), ALL).select(alone.columns), check_exact=True)


def test_a_history_is_the_same_alone_as_among_others() -> None:
    together = build_features(universe(), ALL)
    for ticker, segment in (("AAA", 0), ("AAA", 1), ("BBB", 0)):
        is_one = (pl.col("ticker") == ticker) & (pl.col("segment") == segment)
        alone = build_features(universe().filter(is_one), ALL)
        assert_frame_equal(alone, together.filter(is_one), check_exact=True)


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 2**31))
def test_rows_in_any_order_give_the_same(seed: int) -> None:
    shuffled = universe().sample(fraction=1, shuffle=True, seed=seed)
    assert_frame_equal(
        build_features(shuffled, SETTLED), build_features(universe(), SETTLED), check_exact=True
    )


@pytest.mark.parametrize("chunk_rows", [1, 169, 170, 340, 341, 509, 510, 10_000])
def test_the_size_of_a_chunk_changes_nothing(chunk_rows: int) -> None:
    assert_frame_equal(
        build_features(universe(), ALL, chunk_rows=chunk_rows),
        build_features(universe(), ALL),
        check_exact=True,
    )


def test_a_chunk_is_whole_tickers_and_no_longer_than_asked_unless_one_ticker_is(tmp_path) -> None:
    lengths = {"AAA": 50, "BBB": 60, "CCC": 130, "DDD": 40, "EEE": 60}
    bars = pl.concat(random_bars(length, seed=1, ticker=ticker) for ticker, length in lengths.items())
    bars.write_parquet(tmp_path / "bars.parquet", row_group_size=37)
    chunks = list(feature_chunks(pl.scan_parquet(tmp_path / "bars.parquet"), ALL, chunk_rows=110))
    assert [chunk["ticker"].unique(maintain_order=True).to_list() for chunk in chunks] == [
        ["AAA", "BBB"],
        ["CCC"],
        ["DDD", "EEE"],
    ]
    assert_frame_equal(pl.concat(chunks), build_features(bars, ALL), check_exact=True)


def test_chunks_of_bars_that_are_not_by_ticker_are_refused() -> None:
    interleaved = universe().sort("date", "ticker")
    with pytest.raises(DataError, match="sort them by ticker"):
        list(feature_chunks(interleaved.lazy(), ALL, chunk_rows=200))


def test_tickers_interleaved_by_date_give_the_same() -> None:
    interleaved = universe().sort("date", "ticker")
    assert_frame_equal(build_features(interleaved, ALL), build_features(universe(), ALL), check_exact=True)


@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        ("close", None, "price"),
        ("open", float("nan"), "price"),
        ("high", float("inf"), "price"),
        ("low", 0.0, "price"),
        ("close", -1.0, "price"),
        ("volume", None, "volume"),
        ("volume", -5.0, "volume"),
        ("volume", float("nan"), "volume"),
    ],
)
def test_a_bar_that_makes_no_sense_is_refused_by_ticker_and_date(column, value, message) -> None:
    day = datetime.date(2001, 1, 4)
    damaged = random_bars(30, seed=5).with_columns(
        pl.when(pl.col("date") == day).then(pl.lit(value, dtype=pl.Float64)).otherwise(column).alias(column)
    )
    with pytest.raises(DataError, match=rf"^bars: ABC 2001-01-04 has a {message}"):
        build_features(damaged, ALL)


def test_a_bar_given_twice_is_refused() -> None:
    bars = random_bars(30, seed=5)
    with pytest.raises(DataError, match=r"ABC 2001-01-10 is there twice"):
        build_features(pl.concat([bars, bars.slice(9, 1)]), ALL)


@pytest.mark.parametrize("key", ["ticker", "date", "segment"])
def test_a_bar_that_belongs_nowhere_is_refused(key: str) -> None:
    bars = random_bars(30, seed=5)
    nowhere = bars.with_columns(pl.when(pl.int_range(pl.len()) == 7).then(None).otherwise(key).alias(key))
    with pytest.raises(DataError, match="lacks its ticker, date or segment"):
        build_features(nowhere, ALL)


def test_a_missing_column_is_refused() -> None:
    with pytest.raises(DataError, match="volume"):
        build_features(random_bars(30, seed=5).drop("volume"), ALL)


@pytest.mark.parametrize("price", [1.1, 100.0, 7.3e-4])
@pytest.mark.parametrize("volume", [0.0, 1e6])
@pytest.mark.parametrize("moves_before", [0, 70])
def test_a_market_that_stands_still_gives_the_documented_values(price, volume, moves_before) -> None:
    prices = pl.col("open", "high", "low", "close")
    before = random_bars(moves_before, seed=6).select(prices / pl.col("close").last() * price, "volume")
    still = pl.DataFrame(
        {**{name: [price] * 130 for name in ("open", "high", "low", "close")}, "volume": [volume] * 130}
    )
    features = build_features(bars_frame(pl.concat([before, still]).to_dict(as_series=False)), ALL)
    last = features.row(-1, named=True)
    expected = {
        "rsi_14": 0.5,
        "stochastic_14_3": 0.5,
        "intraday_momentum_14": 0.5,
        "bollinger_position_20": 0.5,
        "deviation_ratio_5_60": 1.0,
        "downside_share_20": 0.5,
    }
    forgets_slowly = {
        "rsi_14",
        "adx_14",
        "directional_balance_14",
        "natr_14",
        "macd_12_26",
        "macd_histogram_12_26_9",
    }
    for name in NAMES:
        assert last[name] is not None
        if moves_before and name in forgets_slowly:
            assert abs(last[name]) <= 1.0
        else:
            assert last[name] == pytest.approx(expected.get(name, 0.0), abs=1e-12), name
    assert features.select(pl.col(NAMES).is_null() | pl.col(NAMES).is_finite()).to_numpy().all()


@settings(max_examples=40, deadline=None)
@given(
    levels=st.lists(st.sampled_from([0.01, 1.0, 1.0, 1.0, 1.01, 50.0, 1e5]), min_size=130, max_size=160),
    traded=st.sampled_from([0.0, 1.0, 1e12]),
)
def test_no_market_however_jumpy_gives_a_value_that_is_not_a_number(levels, traded) -> None:
    volume = [traded * (level != 1.0) for level in levels]
    columns = dict.fromkeys(("open", "high", "low", "close"), levels) | {"volume": volume}
    features = build_features(bars_frame(columns), ALL)
    assert features.select(pl.col(NAMES).is_null() | pl.col(NAMES).is_finite()).to_numpy().all()
