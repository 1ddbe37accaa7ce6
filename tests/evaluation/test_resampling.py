import numpy as np
import polars as pl
import pytest

from candlecast.evaluation.metrics import scores
from candlecast.evaluation.resampling import DayScores

MEAN = 0.002


def repeated(frame: pl.DataFrame, counts: np.ndarray) -> pl.DataFrame:
    """Return each day as often as it was drawn; copies of a day get dates of their own."""
    days = frame.partition_by("date", maintain_order=True)
    copies = [day for day, count in zip(days, counts, strict=True) for _ in range(int(count))]
    return pl.concat(
        day.with_columns(date=pl.date(2000, 1, 1) + pl.duration(days=index))
        for index, day in enumerate(copies)
    )


@pytest.mark.parametrize("tickers", [1, 2, 4])
@pytest.mark.parametrize("skill", [0.0, 0.5])
def test_each_day_once_gives_the_scores_themselves(make_forecasts, tickers, skill):
    frame = make_forecasts(tickers=tickers, skill=skill)
    expected = scores(frame, MEAN)
    result = DayScores(frame, MEAN)(np.ones((1, 60)))
    assert list(result) == list(expected)
    for name, (value,) in result.items():
        assert value == pytest.approx(expected[name], abs=1e-12), name


@pytest.mark.parametrize("seed", range(4))
def test_any_counts_give_the_scores_of_the_copied_rows(make_forecasts, seed):
    frame = make_forecasts(days=23, tickers=5, skill=0.2)
    if seed % 2:  # ties in what is ranked
        frame = frame.with_columns(pl.col("forecast_return").round(2), pl.col("probability_up").round(1))
    counts = np.random.default_rng(seed).multinomial(23, np.full(23, 1 / 23), size=3)
    result = DayScores(frame, MEAN)(counts)
    for index, row in enumerate(counts):
        expected = scores(repeated(frame, row), MEAN)
        for name, value in expected.items():
            assert result[name][index] == pytest.approx(value, abs=1e-12), name


def test_a_constant_forecast_orders_nothing_in_any_resample(make_forecasts):
    frame = make_forecasts().with_columns(forecast_return=pl.lit(MEAN), probability_up=pl.lit(0.6))
    counts = np.random.default_rng(0).multinomial(60, np.full(60, 1 / 60), size=20)
    result = DayScores(frame, MEAN)(counts)
    assert not any(values.any() for name, values in result.items() if "information" in name)
    assert (result["roc_auc_score"] == 0.5).all()


def test_many_resamples_are_the_same_in_pieces_as_at_once(make_forecasts, monkeypatch):
    frame = make_forecasts(days=31, skill=0.1)
    counts = np.random.default_rng(0).multinomial(31, np.full(31, 1 / 31), size=50)
    whole = DayScores(frame, MEAN)(counts)
    monkeypatch.setattr("candlecast.evaluation.resampling._CHUNK", 700)
    pieces = DayScores(frame, MEAN)(counts)
    for name, values in whole.items():
        assert np.allclose(values, pieces[name], rtol=1e-12, atol=1e-14), name


def test_daily_values_are_means_over_the_days_windows(make_forecasts):
    frame = make_forecasts(days=9)
    expected = frame.group_by("date", maintain_order=True).agg(
        ((pl.col("realised_return") - pl.col("forecast_return")) ** 2).mean()
    )
    assert np.allclose(DayScores(frame, MEAN).daily("squared"), expected["realised_return"], rtol=1e-14)
