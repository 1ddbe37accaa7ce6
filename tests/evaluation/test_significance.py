import math

import numpy as np
import polars as pl
import pytest
import statsmodels.api as sm
from arch.bootstrap import MCS, SPA
from oracle.robust import bartlett_variance_of_mean, driscoll_kraay_t
from scipy import stats
from statsmodels.stats.diagnostic import pesaran_timmermann
from statsmodels.stats.multitest import multipletests

from candlecast.evaluation import significance as sig


@pytest.mark.parametrize(("days", "tickers", "horizon"), [(60, 5, 1), (90, 3, 5), (40, 1, 20)])
def test_direction_dependence_is_driscoll_and_kraays_t(make_forecasts, days, tickers, horizon):
    frame = make_forecasts(days=days, tickers=tickers, skill=0.2)
    up = (frame["realised_return"] > 0).cast(float).to_numpy()
    called = (frame["probability_up"] > 0.5).cast(float).to_numpy()
    day = frame["date"].rank("dense").to_numpy()
    lags = sig.bandwidth(days, horizon)
    tested = sig.direction_dependence(frame, horizon)
    # statsmodels has Stata's small-sample factor for groups, which Driscoll & Kraay have not.
    factor = math.sqrt((days - 1) / days * (len(up) - 2) / (len(up) - 1))
    assert tested.statistic == pytest.approx(factor * driscoll_kraay_t(up, called, day, lags), abs=1e-8)
    # Kiefer & Vogelsang (2005): residuals have no mean, so the variance is short by (lags + 1) / days.
    corrected = tested.statistic * math.sqrt(1 - (lags + 1) / days)
    assert tested.p_value == pytest.approx(stats.t.sf(corrected, 1.5 * days / (lags + 1)), abs=1e-12)


def test_direction_dependence_of_one_ticker_is_newey_and_wests(make_forecasts):
    frame = make_forecasts(days=80, tickers=1, skill=0.3)
    up, called = frame["realised_return"] > 0, frame["probability_up"] > 0.5
    fitted = sm.OLS(up.cast(float).to_numpy(), sm.add_constant(called.cast(float).to_numpy())).fit(
        cov_type="HAC", cov_kwds={"maxlags": sig.bandwidth(80, 3), "use_correction": True}
    )
    assert sig.direction_dependence(frame, 3).statistic == pytest.approx(fitted.tvalues[1], abs=1e-8)


def test_the_order_of_rows_changes_nothing(make_forecasts):
    frame = make_forecasts(skill=0.2)
    shuffled = frame.sample(fraction=1, shuffle=True, seed=1)
    assert sig.direction_dependence(shuffled, 5).statistic == pytest.approx(
        sig.direction_dependence(frame, 5).statistic, abs=1e-10
    )


@pytest.mark.parametrize("column", ["realised_return", "probability_up"])
def test_one_direction_only_speaks_neither_way(make_forecasts, column):
    frame = make_forecasts().with_columns(pl.lit(0.9).alias(column))
    assert sig.direction_dependence(frame, 5) == sig.Tested(0.0, 1.0)
    assert set(sig.direction_by_ticker(frame, 5).values()) == {sig.Tested(0.0, 1.0)}


def test_pesaran_timmermann_takes_every_horizonth_window(make_forecasts):
    frame = make_forecasts(days=100, tickers=3, skill=0.4)
    history = frame.filter(ticker="T1")
    expected = pesaran_timmermann(
        history["realised_return"].to_numpy()[::4], history["probability_up"].to_numpy()[::4] - 0.5, "larger"
    )
    tested = sig.direction_by_ticker(frame, 4)["T1"]
    assert tested.statistic == pytest.approx(expected.statistic, abs=1e-12)
    assert tested.p_value == pytest.approx(expected.pvalue, abs=1e-12)


def test_pesaran_timmermann_of_a_table_worked_by_hand():
    # 40 of 60 right; up in 32, called up in 36: P* = (32*36 + 28*24) / 3600.
    table = {(1, 1): 24, (-1, -1): 16, (-1, 1): 12, (1, -1): 8}
    pairs = [pair for pair, count in table.items() for _ in range(count)]
    realised, called = (np.array(side, dtype=float) for side in zip(*pairs, strict=True))
    p_up, p_called, p, n = 32 / 60, 36 / 60, 40 / 60, 60
    star = p_up * p_called + (1 - p_up) * (1 - p_called)
    variance = star * (1 - star) / n
    other = (
        (2 * p_up - 1) ** 2 * p_called * (1 - p_called) + (2 * p_called - 1) ** 2 * p_up * (1 - p_up)
    ) / n
    frame = pl.DataFrame(
        {
            "ticker": ["A"] * n,
            "date": pl.date_range(pl.date(2020, 1, 1), pl.date(2020, 2, 29), eager=True),
            "realised_return": realised,
            "probability_up": 0.5 + called / 4,
        }
    )
    tested = sig.direction_by_ticker(frame, 1)["A"]
    assert tested.statistic == pytest.approx((p - star) / math.sqrt(variance - other), abs=1e-10)


@pytest.mark.parametrize(("days", "horizon"), [(120, 1), (75, 6)])
def test_lower_loss_is_diebold_and_marianos_with_harveys_factor(days, horizon):
    generator = np.random.default_rng(days)
    model, baseline = generator.normal(1.0, 1, days) ** 2, generator.normal(1.2, 1, days) ** 2
    difference = model - baseline
    lags = sig.bandwidth(days, horizon)
    plain = difference.mean() / math.sqrt(bartlett_variance_of_mean(difference, lags))
    harvey = math.sqrt((days + 1 - 2 * horizon + horizon * (horizon - 1) / days) / days)
    tested = sig.lower_loss(model, baseline, horizon)
    assert tested.statistic == pytest.approx(harvey * plain, abs=1e-8)
    corrected = harvey * plain * math.sqrt(1 - (lags + 1) / days)
    assert tested.p_value == pytest.approx(stats.t.cdf(corrected, 1.5 * days / (lags + 1)), abs=1e-10)


def test_equal_losses_speak_neither_way():
    loss = np.random.default_rng(0).random(50)
    assert sig.lower_loss(loss, loss.copy(), 5) == sig.Tested(0.0, 1.0)


def test_a_daily_mean_is_tested_by_newey_and_west():
    daily = np.random.default_rng(1).normal(0.1, 1, 200)
    expected = daily.mean() / math.sqrt(bartlett_variance_of_mean(daily, sig.bandwidth(200, 5)))
    assert sig.mean_above_zero(daily, 5).statistic == pytest.approx(expected, abs=1e-8)
    assert sig.mean_above_zero(np.zeros(30), 5).p_value == 1


def test_several_rivals_are_tested_by_archs_spa():
    losses = np.random.default_rng(2).random((150, 4))
    expected = SPA(losses[:, 0], losses[:, 1:], block_size=7, reps=300, seed=5)
    expected.compute()
    columns = list(losses.T.copy())
    assert (
        sig.any_better_than(columns[0], [*columns[1:], columns[0]], 7, 300, 5)
        == expected.pvalues["consistent"]
    )
    assert sig.any_better_than(columns[0], [columns[0]], 7, 300, 5) == 1


def test_the_confidence_set_is_archs_and_equal_models_share_their_p_value():
    losses = np.random.default_rng(3).random((150, 3))
    losses[:, 2] += 0.2
    named = {"a": losses[:, 0], "b": losses[:, 1], "same as a": losses[:, 0].copy(), "worst": losses[:, 2]}
    result = sig.not_worse_than_any(named, 0.1, 7, 300, 5)
    expected = MCS(losses, size=0.1, block_size=7, reps=300, seed=5)
    expected.compute()
    assert result["a"] == result["same as a"] == expected.pvalues["Pvalue"].loc[0]
    assert result["worst"] == expected.pvalues["Pvalue"].loc[2] < 0.1


def test_holm_multiplies_the_smallest_by_the_number_of_questions():
    assert sig.holm({"a": 0.01, "b": 0.04, "c": 0.03}) == pytest.approx({"a": 0.03, "b": 0.06, "c": 0.06})
    assert sig.holm({}) == {}


def test_the_best_of_many_trainings_needs_a_smaller_p_value():
    assert sig.after_trials(0.01, 1) == 0.01
    assert sig.after_trials(0.01, 30) == pytest.approx(0.3)
    assert sig.after_trials(0.2, 30) == 1


def test_the_bandwidth_and_its_degrees_are_those_published():
    # Lazarus, Lewis, Stock & Watson (2018): S = 1.3 sqrt(T); Priestley (1981) table 6.1: nu = 1.5 T / M at
    # frequency zero for Bartlett's window.
    assert sig.bandwidth(200, 1) == 19
    assert sig.bandwidth(499, 5) == 30
    assert sig.bandwidth(60, 40) == 39
    assert sig.equivalent_degrees(499, 29) == pytest.approx(24.95, abs=1e-12)


def test_holm_is_the_published_example():
    # Holm (1979) as worked in R's p.adjust: 0.01 x 4, 0.02 x 3, 0.03 x 2, 0.005 x 5 of five, kept in order.
    raw = {"a": 0.01, "b": 0.02, "c": 0.03, "d": 0.04, "e": 0.005}
    adjusted = {"a": 0.04, "b": 0.06, "c": 0.06, "d": 0.06, "e": 0.025}
    assert sig.holm(raw) == pytest.approx(adjusted, abs=1e-12)


def test_holm_is_statsmodels_to_the_last_bit():
    values = np.random.default_rng(0).uniform(size=60).round(2) ** 3  # ties among them
    expected = multipletests(values, method="holm")[1]
    assert (
        list(sig.holm({str(place): value for place, value in enumerate(values)}).values())
        == expected.tolist()
    )


def test_the_share_of_a_bartlett_variance_that_the_mean_takes_is_kiefer_and_vogelsangs():
    # Averaged over white series the robust variance of a mean is 1 - (lags + 1) / days of what it estimates.
    generator, days, lags = np.random.default_rng(8), 100, 14
    drawn = [bartlett_variance_of_mean(generator.normal(size=days), lags) * days for _ in range(400)]
    assert np.mean(drawn) == pytest.approx(1 - (lags + 1) / days, abs=0.04)
