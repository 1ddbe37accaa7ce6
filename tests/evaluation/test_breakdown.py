import datetime

import numpy as np
import polars as pl
import pytest
from sklearn.calibration import calibration_curve
from sklearn.metrics import accuracy_score, confusion_matrix

from candlecast.evaluation import breakdown


def test_confusion_counts_each_pair_once_and_keeps_empty_ones(make_forecasts):
    frame = make_forecasts().with_columns(probability_up=pl.lit(0.9))
    table = breakdown.confusion(frame)
    assert table["windows"].sum() == frame.height
    assert table.filter(pl.col("forecast") == "down")["windows"].to_list() == [0, 0]
    ups = table.filter(realised="up", forecast="up")["windows"].item()
    assert ups == (frame["realised_return"] > 0).sum()


@pytest.mark.parametrize("bins", [2, 7, 10])
def test_reliability_bins_hold_equal_counts_and_all_windows(make_forecasts, bins):
    frame = make_forecasts(days=61)
    table = breakdown.reliability(frame, bins)
    assert table.height == bins
    assert table["windows"].sum() == frame.height
    assert table["windows"].max() - table["windows"].min() <= 1
    weighted = (table["realised_share"] * table["windows"]).sum() / frame.height
    assert weighted == pytest.approx((frame["realised_return"] > 0).mean())
    assert table["forecast_probability"].is_sorted()


@pytest.mark.parametrize("bins", [4, 10])
def test_reliability_is_scikit_learns_where_bins_are_equal(make_forecasts, bins):
    frame = make_forecasts(days=60, tickers=5)
    up, probability = (frame["realised_return"] > 0).to_numpy(), frame["probability_up"].to_numpy()
    realised, stated = calibration_curve(up, probability, n_bins=bins, strategy="quantile")
    table = breakdown.reliability(frame, bins)
    assert table["realised_share"].to_numpy() == pytest.approx(realised, abs=1e-12)
    assert table["forecast_probability"].to_numpy() == pytest.approx(stated, abs=1e-12)


def test_confusion_and_accuracies_are_scikit_learns(make_forecasts):
    frame = make_forecasts(days=40, tickers=4, skill=0.2)
    up, called = (frame["realised_return"] > 0).to_numpy(), (frame["probability_up"] > 0.5).to_numpy()
    cells = breakdown.confusion(frame)["windows"].to_numpy().reshape(2, 2)  # down before up, as labels sort
    assert np.array_equal(cells, confusion_matrix(up, called))
    ticker = frame["ticker"].to_numpy() == "T2"
    row = breakdown.accuracy_by_ticker(frame).filter(ticker="T2")
    assert row["directional_accuracy"].item() == pytest.approx(
        accuracy_score(up[ticker], called[ticker]), abs=1e-12
    )


def test_a_constant_probability_is_one_bin(make_forecasts):
    table = breakdown.reliability(make_forecasts().with_columns(probability_up=pl.lit(0.6)), 10)
    assert table.height == 1
    assert table["forecast_probability"].item() == pytest.approx(0.6)


def test_deciles_rise_with_a_perfect_forecast(make_forecasts):
    frame = make_forecasts().with_columns(forecast_return=pl.col("realised_return"))
    table = breakdown.return_deciles(frame)
    assert table.height == 10
    assert np.allclose(table["forecast_return"], table["realised_return"])


def test_accuracy_by_year_splits_at_new_year(make_forecasts):
    frame = make_forecasts(days=400)
    table = breakdown.accuracy_by_year(frame)
    assert table["year"].to_list() == [2011, 2012]
    early = frame.filter(pl.col("date") < datetime.date(2012, 1, 1))
    hits = ((early["realised_return"] > 0) == (early["probability_up"] > 0.5)).mean()
    assert table["directional_accuracy"][0] == pytest.approx(hits)
    assert table["windows"].sum() == frame.height


def test_accuracy_by_ticker_has_one_row_each(make_forecasts):
    table = breakdown.accuracy_by_ticker(make_forecasts(tickers=6))
    assert table["ticker"].to_list() == [f"T{index}" for index in range(6)]
    assert set(table["windows"]) == {60}
