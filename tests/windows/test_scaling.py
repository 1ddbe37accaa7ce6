import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle import windows as oracle
from oracle.panels import CONFIG, universe

from candlecast.windows.scaling import Standardizer, covered_rows
from candlecast.windows.split import split_windows

SCALE = Standardizer(
    mean=np.array([1.0, -2.0]), std=np.array([2.0, 0.5]), target_mean=0.01, target_std=0.04, clip=3.0
)


@given(seed=st.integers(0, 10**6), length=st.integers(1, 7), stride=st.integers(1, 9))
@settings(max_examples=30, deadline=None)
def test_the_scale_is_the_mean_and_population_deviation_of_rows_in_training_windows(
    seed: int, length: int, stride: int
) -> None:
    panel = universe(seed, missing=0.05, unknown=0.02)
    split = split_windows(panel, replace(CONFIG, length=length, stride=stride))
    scale = Standardizer.fit(panel, split, length, clip=8.0)

    rows = sorted(oracle.rows_of_windows(split.train, length))
    means, deviations = oracle.scale(panel.features[rows].astype(float).T.tolist())
    np.testing.assert_allclose(scale.mean, means, rtol=1e-12)
    np.testing.assert_allclose(scale.std, deviations, rtol=1e-12)
    (target_mean,), (target_std,) = oracle.scale([panel.target[split.train].tolist()])
    np.testing.assert_allclose([scale.target_mean, scale.target_std], [target_mean, target_std], rtol=1e-12)


@given(seed=st.integers(0, 10**6), length=st.integers(1, 9))
@settings(max_examples=30, deadline=None)
def test_a_row_is_covered_where_some_window_holds_it(seed: int, length: int) -> None:
    ends = np.sort(np.random.default_rng(seed).choice(np.arange(length - 1, 40), 5, replace=False))

    assert set(np.flatnonzero(covered_rows(ends, length, 40)).tolist()) == oracle.rows_of_windows(
        ends, length
    )


def test_validation_and_test_rows_do_not_move_the_scale(tmp_path: Path) -> None:
    panel = universe(2, missing=0.05)
    split = split_windows(panel, CONFIG)
    last_of_training = panel.session[split.train].max()
    later = panel.session > last_of_training
    features, target = panel.features.copy(), panel.target.copy()
    features[later] *= 1e6
    target[later] *= 1e6

    Standardizer.fit(panel, split, 4, 8.0).save(tmp_path / "before.json")
    Standardizer.fit(replace(panel, features=features, target=target), split, 4, 8.0).save(
        tmp_path / "after.json"
    )

    assert (tmp_path / "before.json").read_bytes() == (tmp_path / "after.json").read_bytes()


def test_the_last_bar_of_training_does_move_the_scale() -> None:
    panel = universe(2)
    split = split_windows(panel, CONFIG)
    features = panel.features.copy()
    features[split.train[-1]] *= 1e6

    moved = Standardizer.fit(replace(panel, features=features), split, 4, 8.0)
    assert (moved.std > 1e3 * Standardizer.fit(panel, split, 4, 8.0).std).all()


@pytest.mark.parametrize("constant", [0.0, 0.1, -1e-30, 3e7])
def test_a_constant_feature_has_a_deviation_of_one(constant: float) -> None:
    panel = universe(3)
    features = panel.features.copy()
    features[:, 1] = constant
    scale = Standardizer.fit(
        replace(panel, features=features), split_windows(panel, CONFIG), length=4, clip=8.0
    )

    assert scale.std[1] == 1.0
    np.testing.assert_allclose(scale.apply(features)[:, 1], 0.0, atol=1e-8)


def test_features_are_standardised_by_column_and_cut() -> None:
    features = np.array([[1.0, -2.0], [3.0, -1.75], [90.0, -90.0]], dtype=np.float32)

    np.testing.assert_array_equal(SCALE.apply(features), [[0.0, 0.0], [1.0, 0.5], [3.0, -3.0]])
    assert SCALE.apply(features).dtype == np.float32


def test_what_is_not_finite_is_not_known_after_scaling_either() -> None:
    features = np.array([[np.nan, np.inf], [-np.inf, -2.0]], dtype=np.float32)

    np.testing.assert_array_equal(SCALE.apply(features), [[np.nan, np.nan], [np.nan, 0.0]])


def test_scaling_leaves_its_input_alone() -> None:
    features = np.array([[5.0, 5.0], [np.inf, 1.0]], dtype=np.float32)
    before = features.copy()
    SCALE.apply(features)

    np.testing.assert_array_equal(features, before)


def test_rows_are_scaled_alike_whatever_block_they_fall_in(monkeypatch: pytest.MonkeyPatch) -> None:
    features = np.random.default_rng(0).normal(size=(50, 2)).astype(np.float32)
    whole = SCALE.apply(features)
    monkeypatch.setattr("candlecast.windows.scaling._BLOCK_ROWS", 7)

    np.testing.assert_array_equal(SCALE.apply(features), whole)


def test_a_restored_target_is_the_log_return_again() -> None:
    returns = np.array([0.05, -0.03, 0.0, np.nan])

    np.testing.assert_allclose(SCALE.standardise_target(returns), [1.0, -1.0, -0.25, np.nan])
    np.testing.assert_allclose(SCALE.restore_target(SCALE.standardise_target(returns)), returns)


def test_the_saved_scale_reads_back_bit_for_bit(tmp_path: Path) -> None:
    panel = universe(4)
    scale = Standardizer.fit(panel, split_windows(panel, CONFIG), 4, 8.0)
    scale.save(tmp_path / "scale.json")
    loaded = Standardizer.load(tmp_path / "scale.json")

    assert loaded.mean.tobytes() == scale.mean.tobytes()
    assert loaded.std.tobytes() == scale.std.tobytes()
    expected = (scale.target_mean, scale.target_std, scale.clip)
    assert (loaded.target_mean, loaded.target_std, loaded.clip) == expected
    json.loads((tmp_path / "scale.json").read_text())
