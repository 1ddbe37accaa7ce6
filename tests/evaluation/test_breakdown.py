import datetime

import numpy as np
import polars as pl
import pytest

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
