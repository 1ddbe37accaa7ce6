from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from arch.bootstrap import MCS, SPA
from statsmodels.stats.multitest import multipletests

from candlecast.evaluation.calibration import Shape, simulate
from candlecast.evaluation.config import EvaluateConfig
from candlecast.evaluation.days import daily_losses
from candlecast.evaluation.evidence import Evidence, gather_evidence
from candlecast.evaluation.runs import below_each, compare_runs, runs_tested
from candlecast.evaluation.significance import lower_loss

CONFIG = EvaluateConfig(
    batch=8,
    reliability_bins=5,
    bootstrap_replications=200,
    confidence=0.95,
    costs_bp=(0.0,),
    calibration_simulations=0,
)
DAYS = 160


@pytest.fixture
def forecasts(make_forecasts) -> pl.DataFrame:
    baselines = ("ridge_logistic", "training_mean")
    return pl.concat(
        make_forecasts(days=DAYS, model=name, seed=seed)
        for seed, name in enumerate(("candlecast", *baselines))
    )


def evidence_of(forecasts: pl.DataFrame, trials: int) -> Evidence:
    return gather_evidence(forecasts, 0.001, 2, CONFIG, trials, seed=5)


def as_text(frame: pl.DataFrame) -> str:
    return daily_losses(frame).write_csv(float_precision=12)


def squared(frame: pl.DataFrame) -> np.ndarray:
    return daily_losses(frame)["squared"].to_numpy()


def test_the_tests_are_the_libraries_own_over_all_runs(forecasts, make_forecasts):
    evidence = evidence_of(forecasts, 3)
    others = {name: make_forecasts(days=DAYS, skill=0.1, seed=seed) for name, seed in (("a", 7), ("b", 8))}
    found = compare_runs(forecasts, {name: as_text(frame) for name, frame in others.items()}, evidence, 5)
    assert (found.runs, found.trainings) == (3, 3)
    tested = found.losses["squared"]

    ridge, mean = (squared(forecasts.filter(model=name)) for name in ("ridge_logistic", "training_mean"))
    runs = [squared(forecasts.filter(model="candlecast")), *(squared(frame) for frame in others.values())]
    best = min(ridge, mean, key=np.mean)
    assert tested.benchmark == ("ridge_logistic" if best is ridge else "training_mean")
    spa = SPA(best, np.stack(runs, axis=1), block_size=evidence.block, reps=200, seed=5)
    spa.compute()
    assert tested.any_better == pytest.approx(spa.pvalues["consistent"], abs=1e-12)

    p_values = [max(lower_loss(run, other, 2).p_value for other in (ridge, mean)) for run in runs]
    assert tested.p_value == pytest.approx(p_values[0], abs=1e-8)
    assert tested.adjusted == pytest.approx(multipletests(p_values, method="holm")[1][0], abs=1e-8)

    mcs = MCS(np.stack([*runs, ridge, mean], axis=1), 0.05, block_size=evidence.block, reps=200, seed=5)
    mcs.compute()
    inside = mcs.pvalues["Pvalue"] >= 0.05
    assert tested.set_p_value == pytest.approx(mcs.pvalues["Pvalue"].loc[0], abs=1e-12)
    assert tested.set_runs == inside.loc[[0, 1, 2]].sum()
    assert tested.set_baselines == tuple(
        name for index, name in ((3, "ridge_logistic"), (4, "training_mean")) if inside.loc[index]
    )
    assert tested.place == 1 + sum(run.mean() < runs[0].mean() for run in runs)


def test_a_training_without_daily_losses_is_a_question_answered_with_one(forecasts, make_forecasts):
    other = as_text(make_forecasts(days=DAYS, seed=7))
    short = as_text(make_forecasts(days=DAYS - 1, seed=8))
    known = compare_runs(forecasts, {"a": other}, evidence_of(forecasts, 2), 5)
    lacking = compare_runs(forecasts, {"a": other, "b": short}, evidence_of(forecasts, 9), 5)
    assert (lacking.runs, lacking.trainings) == (2, 9)
    p_values = [known.losses["squared"].p_value, *[1.0] * 8]
    run = {"squared": squared(make_forecasts(days=DAYS, seed=7))}
    baselines = {name: squared(forecasts.filter(model=name)) for name in ("ridge_logistic", "training_mean")}
    p_values[1] = below_each(run["squared"], baselines, 2)
    expected = multipletests(p_values, method="holm")[1][0]
    assert lacking.losses["squared"].adjusted == pytest.approx(expected, abs=1e-8)


def test_alone_in_the_store_nothing_is_adjusted(forecasts):
    found = compare_runs(forecasts, {}, evidence_of(forecasts, 1), 5)
    assert (found.runs, found.trainings) == (1, 1)
    assert all(each.adjusted == each.p_value and each.place == 1 for each in found.losses.values())


def test_a_store_that_counts_fewer_trainings_than_it_has_runs_is_taken_at_its_runs(forecasts, make_forecasts):
    other = as_text(make_forecasts(days=DAYS, seed=7))
    assert compare_runs(forecasts, {"a": other}, evidence_of(forecasts, 1), 5).trainings == 2


def test_the_same_run_twice_stays_with_its_twin(forecasts):
    twin = as_text(forecasts.filter(model="candlecast"))
    found = compare_runs(forecasts, {"twin": twin}, evidence_of(forecasts, 2), 5)
    alone = compare_runs(forecasts, {}, evidence_of(forecasts, 1), 5)
    for loss, each in found.losses.items():
        assert each.set_p_value == alone.losses[loss].set_p_value
        assert each.set_runs in (0, 2)


# --- on simulated markets whose truth is known ----------------------------------------------------

SHAPE = Shape(days=250, tickers=3, horizon=3, block=12, correlation=0.4, persistence=0.7)
RUNS = 6


def losses_of(accuracies: list[float], generator: np.random.Generator) -> tuple[list[np.ndarray], np.ndarray]:
    """Daily losses of runs with these accuracies, and of a baseline as noisy as they and without skill."""
    market = simulate(SHAPE, 0.5, generator)
    runs = []
    for accuracy in accuracies:
        skill = np.sin(np.pi * (accuracy - 0.5))
        noise = simulate(SHAPE, 0.5, generator).forecast
        runs.append(skill * market.realised + np.sqrt(1 - skill**2) * noise)
    squared = [((market.realised - 0.1 * each) ** 2).mean(axis=1) for each in (*runs, market.rival)]
    return squared[:-1], squared[-1]


def rejections(accuracies: list[float], markets: int, evidence: Evidence) -> dict[str, int]:
    generator = np.random.default_rng(17)
    counts = {"any": 0, "holm": 0, "set": 0, "first": 0}
    for market in range(markets):
        runs, baseline = losses_of(accuracies, generator)
        named = {"candlecast": runs[0], **{f"run {index}": loss for index, loss in enumerate(runs[1:])}}
        tested = runs_tested(named, {"baseline": baseline}, len(runs), evidence, seed=market)
        counts["any"] += tested.any_better < 0.05
        counts["holm"] += tested.found > 0
        counts["set"] += tested.set_p_value < 0.05
        counts["first"] += tested.adjusted < 0.05
    return counts


@pytest.fixture
def shaped(forecasts) -> Evidence:
    return replace(
        evidence_of(forecasts, 1), days=SHAPE.days, horizon=SHAPE.horizon, block=SHAPE.block, replications=100
    )


def test_without_skill_in_any_of_several_runs_the_family_rejects_about_as_often_as_it_says(shaped):
    counts = rejections([0.5] * RUNS, 80, shaped)
    # 5 % of 80 markets are 4; a binomial count above 9 happens less than once in 100 times.
    assert max(counts["any"], counts["holm"], counts["set"]) <= 9
    assert counts["any"] > 0  # and it is not merely silent


def test_one_skilled_run_among_several_is_found(shaped):
    counts = rejections([0.6, *[0.5] * (RUNS - 1)], 30, shaped)
    assert counts["any"] > 20
    assert counts["first"] > 20
    assert counts["set"] <= 3  # the best run must stay in the set of the best


def test_a_run_without_skill_beside_a_skilled_one_is_not_found_with_it(shaped):
    counts = rejections([0.5, 0.62, *[0.5] * (RUNS - 2)], 30, shaped)
    assert counts["first"] <= 4
    assert counts["set"] > 20  # and leaves the set of the best
