from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle import windows as oracle
from oracle.panels import universe, universe_frame

from candlecast.errors import DataError
from candlecast.windows.panel import Panel

SHAPES = {"missing": 0.05, "breaks": 0.03, "unknown": 0.03}


@given(seed=st.integers(0, 10**6), length=st.integers(1, 9), horizon=st.integers(1, 5))
@settings(max_examples=60, deadline=None)
def test_a_window_is_whole_known_and_of_one_history(seed: int, length: int, horizon: int) -> None:
    panel = universe(seed, sessions=30, features=2, horizon=horizon, **SHAPES)

    assert oracle.window_ends(panel, length) == panel.window_ends(length).tolist()


@given(seed=st.integers(0, 10**6), horizon=st.integers(1, 8))
@settings(max_examples=40, deadline=None)
def test_a_label_ends_the_horizon_later_in_the_same_history(seed: int, horizon: int) -> None:
    panel = universe(seed, sessions=25, horizon=horizon, **SHAPES)

    assert [oracle.label_row(panel, row) for row in range(len(panel.target))] == panel.label_row().tolist()


def test_no_window_where_every_history_is_shorter() -> None:
    panel = universe(1, sessions=12)

    assert panel.window_ends(13).tolist() == []
    assert len(panel.window_ends(12)) == len(panel.tickers)


def test_the_order_of_the_rows_does_not_matter() -> None:
    frame, target = universe_frame(3, **SHAPES)
    order = np.random.default_rng(0).permutation(len(frame))

    expected = Panel.from_frame(frame, target, 2)
    shuffled = Panel.from_frame(frame[order], target[order], 2)

    for name in ("features", "target", "date", "session", "ticker", "segment"):
        np.testing.assert_array_equal(getattr(shuffled, name), getattr(expected, name))


def test_rows_are_sorted_by_ticker_and_date_and_sessions_count_the_union_of_dates() -> None:
    frame, target = universe_frame(4, sessions=20, missing=0.3)
    panel = Panel.from_frame(frame, target, 2)
    dates = sorted(set(frame["date"]))

    keys = [
        (panel.tickers[ticker], date.item()) for ticker, date in zip(panel.ticker, panel.date, strict=True)
    ]
    assert keys == sorted(zip(frame["ticker"], frame["date"], strict=True))
    assert [dates.index(date) for _, date in keys] == panel.session.tolist()


def test_features_keep_their_columns_and_are_laid_out_row_by_row() -> None:
    frame, target = universe_frame(5, sessions=11, features=4)
    panel = Panel.from_frame(frame, target, 2)

    assert panel.feature_names == ("feature_0", "feature_1", "feature_2", "feature_3")
    assert panel.features.flags["C_CONTIGUOUS"]
    assert panel.features.shape == (33, 4)
    first = frame.filter(pl.col("ticker") == "T1").sort("date")
    np.testing.assert_array_equal(panel.features[:11, 2], first["feature_2"].to_numpy())


def test_what_is_not_known_or_infinite_becomes_nan() -> None:
    frame, target = universe_frame(6, tickers=1, sessions=9, features=1)
    frame = frame.with_columns(feature_0=pl.Series([None, np.inf, -np.inf, *[1.0] * 6], dtype=pl.Float32))
    panel = Panel.from_frame(frame, target, 2)

    assert np.isnan(panel.features[:, 0]).tolist() == [True] * 3 + [False] * 6
    assert np.isnan(panel.target).tolist() == [False] * 7 + [True] * 2


def test_a_bar_that_appears_twice_is_refused() -> None:
    frame, target = universe_frame(7, sessions=8)
    twice = pl.concat([frame, frame[:1]])

    with pytest.raises(DataError, match="T3 has two rows for 2020-01-01"):
        Panel.from_frame(twice, pl.concat([target, target[:1]]), 2)


def test_a_target_for_another_horizon_is_refused() -> None:
    frame, target = universe_frame(8, sessions=10, horizon=2)

    with pytest.raises(DataError, match=r"T1, 2020-01-08: .* windows\.horizon 3"):
        Panel.from_frame(frame, target, 3)


def test_a_target_of_another_length_is_refused() -> None:
    frame, target = universe_frame(8)

    with pytest.raises(DataError, match="179 values for 180 rows"):
        Panel.from_frame(frame, target[:-1], 2)


def test_a_frame_without_indicators_or_rows_is_refused() -> None:
    frame, target = universe_frame(8, features=1)

    with pytest.raises(DataError, match="0 indicators"):
        Panel.from_frame(frame.drop("feature_0"), target, 2)
    with pytest.raises(DataError, match="0 rows"):
        Panel.from_frame(frame[:0], target[:0], 2)


def test_sessions_that_do_not_number_the_dates_are_refused() -> None:
    panel = universe(9)

    with pytest.raises(DataError, match="session is not the position"):
        replace(panel, session=panel.session + np.int32(1))


def test_a_row_without_a_date_is_refused() -> None:
    frame, target = universe_frame(10, sessions=8)
    dateless = frame.with_columns(pl.when(pl.int_range(pl.len()) != 3).then(pl.col("date")))

    with pytest.raises(DataError, match="a row has no date"):
        Panel.from_frame(dateless, target, 2)
