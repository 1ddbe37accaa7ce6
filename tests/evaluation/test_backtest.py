import numpy as np
import polars as pl
import pytest
from oracle.trading import slow_paths

from candlecast.errors import EvaluationError
from candlecast.evaluation.backtest import largest_drawdown, outcomes, paths
from candlecast.evaluation.sharpe import deflated


@pytest.mark.parametrize(("horizon", "extra"), [(1, 2), (4, 5), (4, 9), (4, 2), (7, 1)])
def test_tranches_are_traded_at_the_next_close_and_held_for_the_horizon(
    make_forecasts, make_closes, horizon, extra
):
    frame = make_forecasts(days=30, tickers=3)
    closes = make_closes(frame, extra)
    gross, turnover = slow_paths(frame, closes, horizon)
    for path in paths(frame, closes, horizon):
        if path.strategy in gross:
            assert path.gross == pytest.approx(np.array(gross[path.strategy]), abs=1e-12)
            assert path.turnover == pytest.approx(np.array(turnover[path.strategy]), abs=1e-12)


def test_windows_and_sessions_that_are_missing_are_nothing_traded(make_forecasts, make_closes):
    frame = make_forecasts(days=30, tickers=3)
    traded = (pl.col("ticker") != "T1") | (pl.col("date").dt.day() % 5 != 0)
    closes = make_closes(frame, 6).filter(traded)
    frame = frame.filter(traded, pl.int_range(pl.len()) % 7 != 3)
    gross, turnover = slow_paths(frame, closes, 4)
    for path in paths(frame, closes, 4)[:2]:
        assert path.gross == pytest.approx(np.array(gross[path.strategy]), abs=1e-12)
        assert path.turnover == pytest.approx(np.array(turnover[path.strategy]), abs=1e-12)


def test_a_signal_filled_on_its_own_bar_would_show(make_forecasts, make_closes):
    # The forecast of day t knows the move from t to t + 1; a trade at the next close must not earn it.
    frame = make_forecasts(days=200, tickers=4)
    closes = make_closes(frame, 3)
    moves = closes.with_columns(move=(pl.col("close").shift(-1) / pl.col("close") - 1).over("ticker"))
    peeking = frame.join(moves, on=["ticker", "date"], how="left", maintain_order="left").with_columns(
        probability_up=pl.when(pl.col("move") > 0).then(0.9).otherwise(0.1)
    )
    path = paths(peeking, closes, 1)[0]
    assert abs(path.gross.mean()) < 3 * path.gross.std() / np.sqrt(len(path.gross))


def test_costs_are_paid_on_what_is_traded_and_break_even_leaves_nothing(make_forecasts, make_closes):
    frame = make_forecasts(days=40, tickers=3)
    for path in paths(frame, make_closes(frame, 6, seed=4), 5):
        if path.break_even_bp is not None:
            assert path.net(path.break_even_bp).mean() == pytest.approx(0, abs=1e-15)
        assert path.net(10) == pytest.approx(path.gross - path.turnover * 0.001)


def test_always_long_trades_in_and_out_once(make_forecasts, make_closes):
    frame = make_forecasts(days=40, tickers=3)
    path = paths(frame, make_closes(frame, 8), 5)[2]
    assert path.turnover.sum() == pytest.approx(2)


def test_outcomes_are_a_years(make_forecasts, make_closes):
    frame = make_forecasts(days=40, tickers=3)
    followed = paths(frame, make_closes(frame, 6), 5)
    results = outcomes(followed, [0, 20], trials=7)
    assert [(each.strategy, each.cost_bp) for each in results[:3]] == [
        ("long/short", 0),
        ("long/short", 20),
        ("long/flat", 0),
    ]
    net = followed[0].net(20)
    assert results[1].annual_return == pytest.approx(252 * net.mean())
    assert results[1].annual_sharpe == pytest.approx(np.sqrt(252) * net.mean() / net.std())
    assert results[1].deflated_sharpe == pytest.approx(deflated(net, 7))


def test_the_largest_drawdown_is_from_the_peak_before_it():
    assert largest_drawdown(np.array([0.1, -0.5, 0.2, -0.1])) == pytest.approx(0.5)
    assert largest_drawdown(np.array([-0.2, 0.5])) == pytest.approx(0.2)
    assert largest_drawdown(np.array([0.1, 0.1])) == 0


def test_a_forecast_without_a_close_is_named(make_forecasts, make_closes):
    frame = make_forecasts(days=30, tickers=3)
    closes = make_closes(frame, 3).filter((pl.col("ticker") != "T2") | (pl.col("date") != frame["date"][9]))
    with pytest.raises(EvaluationError, match="T2 on 2011-03-04: forecast without a close"):
        paths(frame, closes, 2)


def test_no_session_after_the_forecasts_is_an_error(make_forecasts, make_closes):
    frame = make_forecasts(days=30, tickers=3)
    with pytest.raises(EvaluationError, match="no session follows the forecasts"):
        paths(frame, make_closes(frame, 0), 2)
