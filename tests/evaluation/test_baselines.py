import math
import statistics
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from oracle import baselines as oracle
from oracle.panels import CONFIG, universe, universe_frame
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

from candlecast.evaluation.baselines import baseline_forecasts, realised_by, summarise
from candlecast.evaluation.config import BaselinesConfig
from candlecast.schema import FORECASTS, check
from candlecast.windows.panel import Panel
from candlecast.windows.split import Part
from candlecast.windows.store import WindowStore

BASELINES = BaselinesConfig(
    summary_bars=(2, 4), ridge_alpha=3.0, logistic_c=0.2, boosting_iterations=5, boosting_learning_rate=0.1
)
NAMES = ["training_mean", "zero_return", "last_return", "ridge_logistic", "gradient_boosting"]
PARTS: tuple[Part, ...] = ("validation", "test")


@pytest.fixture(scope="module")
def store() -> WindowStore:
    return WindowStore.build(universe(1, missing=0.05, unknown=0.02), CONFIG)


@pytest.fixture(scope="module")
def forecasts(store: WindowStore) -> pl.DataFrame:
    return baseline_forecasts(store, BASELINES, seed=1)


def of(forecasts: pl.DataFrame, model: str, part: Part = "test") -> pl.DataFrame:
    return forecasts.filter(pl.col("model") == model, pl.col("part") == part)


def values(frame: pl.DataFrame, column: str) -> list[float]:
    return frame[column].to_list()


def test_every_baseline_forecasts_every_validation_and_test_window(
    store: WindowStore, forecasts: pl.DataFrame
) -> None:
    check(forecasts, FORECASTS, "forecasts")
    assert forecasts["model"].unique(maintain_order=True).to_list() == NAMES
    for name in NAMES:
        for part in PARTS:
            frame, ends = of(forecasts, name, part), store.split.part(part)
            panel = store.panel
            assert values(frame, "ticker") == [panel.tickers[index] for index in panel.ticker[ends]]
            assert values(frame, "date") == panel.date[ends].tolist()
            assert values(frame, "realised_return") == panel.target[ends].tolist()


def test_every_forecast_is_finite_and_every_probability_a_probability(forecasts: pl.DataFrame) -> None:
    assert forecasts.null_count().sum_horizontal().item() == 0
    assert forecasts["forecast_return"].is_finite().all()
    assert forecasts["probability_up"].is_between(0, 1).all()


def test_the_training_mean_and_up_share_are_those_of_the_training_windows(
    store: WindowStore, forecasts: pl.DataFrame
) -> None:
    returns = store.panel.target[store.split.train].tolist()
    frame = of(forecasts, "training_mean")

    assert frame["forecast_return"].n_unique() == 1
    assert frame["forecast_return"][0] == pytest.approx(statistics.fmean(returns), rel=1e-12)
    assert set(frame["probability_up"]) == {sum(value > 0 for value in returns) / len(returns)}


def test_zero_return_forecasts_no_change_and_holds_no_opinion(forecasts: pl.DataFrame) -> None:
    frame = of(forecasts, "zero_return")

    assert set(frame["forecast_return"]) == {0.0}
    assert set(frame["probability_up"]) == {0.5}


def test_last_return_is_the_return_over_the_last_horizon_bars_from_the_closes() -> None:
    frame, target = universe_frame(2, horizon=3, missing=0.05)
    store = WindowStore.build(Panel.from_frame(frame, target, 3), replace(CONFIG, horizon=3))
    last = of(baseline_forecasts(store, BASELINES, seed=1), "last_return")

    closes = {ticker: frame.filter(pl.col("ticker") == ticker).sort("date") for ticker in store.panel.tickers}
    deviation = statistics.pstdev(store.panel.target[store.split.train].tolist())
    for ticker, date, forecast, up in last.select(
        "ticker", "date", "forecast_return", "probability_up"
    ).rows():
        past = closes[ticker].filter(pl.col("date") <= date)["close"]
        expected = math.log(past[-1] / past[-4])
        assert forecast == pytest.approx(expected, abs=1e-12)
        assert up == pytest.approx(oracle.normal_share_below(expected / deviation), rel=1e-9)
        assert (up > 0.5) == (forecast > 0)


def test_the_realised_return_never_comes_from_another_history() -> None:
    panel = universe(3, horizon=2, breaks=0.1, missing=0.1)
    realised = realised_by(panel)

    starts = np.flatnonzero(panel.history_starts())
    bars_before = np.arange(len(realised)) - starts[np.cumsum(panel.history_starts()) - 1]
    assert np.isnan(realised).tolist() == (bars_before < 2).tolist()


def test_a_history_younger_than_the_horizon_is_forecast_not_to_move() -> None:
    # A window of one bar whose history began with it: there is no return to repeat.
    frame, _ = universe_frame(4, tickers=1, horizon=2)
    frame = frame.with_columns(segment=pl.Series([0] * 50 + [1] * 10, dtype=pl.Int32))
    logs = pl.col("close").log()
    target = frame.select((logs.shift(-2) - logs).over("segment")).to_series()
    store = WindowStore.build(Panel.from_frame(frame, target, 2), replace(CONFIG, length=1))
    config = replace(BASELINES, summary_bars=())
    last = of(baseline_forecasts(store, config, seed=1), "last_return")

    assert values(last, "forecast_return")[-8:-6] == [0.0, 0.0]
    assert 0.0 not in values(last, "forecast_return")[-6:]


def test_the_future_does_not_move_a_forecast(store: WindowStore, forecasts: pl.DataFrame) -> None:
    # All that a session sees only later is changed: bars after it, and returns that end after it.
    session = 50
    panel = store.panel
    later = panel.session > session
    label_row = panel.label_row()
    ends_later = (label_row < 0) | (panel.session[label_row] > session)
    features, target = panel.features.copy(), panel.target.copy()
    features[later] *= -3.0
    target[ends_later] *= -5.0
    changed = replace(store, panel=replace(panel, features=features, target=target))

    known = pl.col("date") <= panel.date[panel.session == session][0].item()
    columns = ["model", "part", "ticker", "date", "forecast_return", "probability_up"]
    expected = forecasts.filter(known).select(columns)
    assert baseline_forecasts(changed, BASELINES, seed=1).filter(known).select(columns).equals(expected)
    assert len(expected) > 100


def test_a_summary_is_the_last_bar_then_the_trailing_means(store: WindowStore) -> None:
    ends = store.split.test

    summaries = summarise(store.panel.features, ends, (2, 4, 3))
    expected = [oracle.summary(store.panel, end, (2, 4, 3)) for end in ends]
    np.testing.assert_allclose(summaries, expected, rtol=1e-9, atol=1e-12)


def test_ridge_solves_the_normal_equations(store: WindowStore, forecasts: pl.DataFrame) -> None:
    train, asked = oracle.standardised_summaries(store, store.split.test, (2, 4))
    expected = oracle.ridge(train, store.panel.target[store.split.train], asked, alpha=3.0)

    forecast = values(of(forecasts, "ridge_logistic"), "forecast_return")
    np.testing.assert_allclose(forecast, expected, rtol=1e-8, atol=1e-12)


def test_logistic_regression_is_where_newtons_method_ends(
    store: WindowStore, forecasts: pl.DataFrame
) -> None:
    train, asked = oracle.standardised_summaries(store, store.split.test, (2, 4))
    up = (store.panel.target[store.split.train] > 0).astype(float)

    probability = values(of(forecasts, "ridge_logistic"), "probability_up")
    np.testing.assert_allclose(probability, oracle.logistic(train, up, asked, c=0.2), atol=1e-4)


def test_boosting_is_scikit_learns_on_the_summaries(store: WindowStore, forecasts: pl.DataFrame) -> None:
    train, asked = oracle.standardised_summaries(store, store.split.test, (2, 4))
    returns = store.panel.target[store.split.train]
    options = {"max_iter": 5, "learning_rate": 0.1, "early_stopping": False}
    regressor = HistGradientBoostingRegressor(**options).fit(train, returns)
    classifier = HistGradientBoostingClassifier(**options).fit(train, returns > 0)
    frame = of(forecasts, "gradient_boosting")

    np.testing.assert_allclose(frame["forecast_return"], regressor.predict(asked), rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(frame["probability_up"], classifier.predict_proba(asked)[:, 1], rtol=1e-4)


def test_fitted_baselines_find_what_is_there_to_find() -> None:
    # The sign of feature 0 is the direction; the product of features 1 and 2 is the rest, which no linear
    # forecast can see.
    frame, target = universe_frame(5, tickers=4, sessions=200, horizon=1)
    linear, product = frame["feature_0"] - 1, (frame["feature_1"] - 1) * (frame["feature_2"] - 1)
    known = target.is_not_null()

    def accuracy(signal: pl.Series, name: str) -> float:
        planted = (signal.cast(pl.Float64) * 0.01).zip_with(known, pl.repeat(None, len(known), eager=True))
        panel = Panel.from_frame(frame, planted, 1)
        config = replace(CONFIG, horizon=1, test_start=frame["date"].max() - np.timedelta64(40, "D").item())
        fitted = replace(BASELINES, boosting_iterations=40)
        test = of(baseline_forecasts(WindowStore.build(panel, config), fitted, seed=1), name)
        right = (test["probability_up"] > 0.5) == (test["realised_return"] > 0)
        return float(right.mean())

    assert accuracy(linear, "ridge_logistic") > 0.95
    assert accuracy(linear, "gradient_boosting") > 0.9
    assert accuracy(product, "ridge_logistic") < 0.65
    assert accuracy(product, "gradient_boosting") > 0.8


def test_a_training_span_that_only_rose_makes_up_certain() -> None:
    frame, target = universe_frame(6)
    store = WindowStore.build(Panel.from_frame(frame, target.abs() + 1e-6, 2), CONFIG)
    forecasts = baseline_forecasts(store, BASELINES, seed=1)

    for name in ("training_mean", "ridge_logistic", "gradient_boosting"):
        assert set(of(forecasts, name)["probability_up"]) == {1.0}


def test_the_same_input_gives_the_same_frame(store: WindowStore, forecasts: pl.DataFrame) -> None:
    assert baseline_forecasts(store, BASELINES, seed=1).equals(forecasts)
