"""The target: what happens after the row, in its own history, or nothing."""

import math

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle.indicators_market import random_bars

from candlecast.errors import ParamsError
from candlecast.features.target import forward_log_return


def frame(*histories: tuple[str, int, list[float]]) -> pl.DataFrame:
    return pl.concat(
        pl.DataFrame({"ticker": ticker, "segment": segment, "close": closes})
        for ticker, segment, closes in histories
    )


def test_it_is_the_log_return_over_the_bars_ahead() -> None:
    target = forward_log_return(frame(("A", 0, [1.0, 2.0, 4.0, 3.0])), horizon=2)
    assert target.dtype == pl.Float64()
    assert target.to_list() == [pytest.approx(math.log(4)), pytest.approx(math.log(1.5)), None, None]


def test_it_looks_into_no_other_history() -> None:
    histories = (("A", 0, [1.0, 2.0]), ("A", 1, [10.0, 20.0, 30.0]), ("B", 0, [5.0, 50.0]))
    target = forward_log_return(frame(*histories), horizon=1)
    assert [value is None for value in target] == [False, True, False, False, True, False, True]


@settings(max_examples=40, deadline=None)
@given(length=st.integers(1, 30), horizon=st.integers(1, 35))
def test_the_last_rows_are_null_and_never_zero(length: int, horizon: int) -> None:
    closes = [1.0 + index for index in range(length)]
    target = forward_log_return(frame(("A", 0, closes)), horizon)
    assert target.is_null().to_list() == [index + horizon >= length for index in range(length)]


@settings(max_examples=40, deadline=None)
@given(changed=st.integers(0, 39), horizon=st.integers(1, 8))
def test_a_label_reads_its_own_close_and_the_one_at_its_end(changed: int, horizon: int) -> None:
    bars = random_bars(40, seed=2)
    row = pl.int_range(pl.len())
    other = bars.with_columns(pl.when(row == changed).then(1e3).otherwise("close").alias("close"))
    before, after = forward_log_return(bars, horizon), forward_log_return(other, horizon)
    differs = [index for index in range(40) if before[index] != after[index]]
    assert differs == [index for index in (changed - horizon, changed) if index >= 0 and index + horizon < 40]


def test_tickers_interleaved_keep_their_rows() -> None:
    bars = pl.concat([random_bars(20, seed=1, ticker="A"), random_bars(20, seed=2, ticker="B")])
    mixed = bars.sort("date", "ticker")
    in_order = bars.with_columns(forward_log_return(bars, 3))
    assert mixed.with_columns(forward_log_return(mixed, 3)).sort("ticker", "date").equals(in_order)


def test_a_horizon_of_no_bar_is_refused() -> None:
    with pytest.raises(ParamsError, match=r"windows\.horizon"):
        forward_log_return(frame(("A", 0, [1.0])), horizon=0)
