import itertools
import logging
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from oracle import windows as oracle
from oracle.panels import CONFIG, day, universe, universe_frame

from candlecast.errors import SplitError
from candlecast.windows.config import WindowsConfig
from candlecast.windows.panel import Panel
from candlecast.windows.split import PARTS, split_windows


@given(
    seed=st.integers(0, 10**6),
    length=st.integers(1, 6),
    horizon=st.integers(1, 5),
    test_start=st.integers(20, 60),
    validation_days=st.integers(1, 20),
    folds=st.integers(1, 4),
    embargo=st.integers(0, 4),
    stride=st.integers(1, 4),
    data=st.data(),
)
@settings(max_examples=80, deadline=None)
def test_the_split_equals_one_made_by_walking_the_calendar(
    seed: int,
    length: int,
    horizon: int,
    test_start: int,
    validation_days: int,
    folds: int,
    embargo: int,
    stride: int,
    data: st.DataObject,
) -> None:
    panel = universe(seed, sessions=60, features=1, horizon=horizon, missing=0.08, breaks=0.01, unknown=0.01)
    config = WindowsConfig(
        length=length,
        horizon=horizon,
        test_start=day(test_start),
        validation_days=validation_days,
        folds=folds,
        fold=data.draw(st.integers(0, folds - 1)),
        embargo=embargo,
        stride=stride,
        clip=8.0,
    )
    expected = oracle.split(panel, config)

    if not all(expected.values()):
        with pytest.raises(SplitError):
            split_windows(panel, config)
        return
    split = split_windows(panel, config)
    for name in PARTS:
        assert expected[name] == split.part(name).tolist(), name


@given(
    seed=st.integers(0, 10**6),
    horizon=st.integers(1, 6),
    embargo=st.integers(0, 3),
    validation_days=st.integers(8, 16),
)
@settings(max_examples=40, deadline=None)
def test_no_label_reaches_the_next_part_and_no_bar_is_in_two(
    seed: int, horizon: int, embargo: int, validation_days: int
) -> None:
    panel = universe(seed, sessions=60, features=1, horizon=horizon, missing=0.1)
    config = replace(CONFIG, horizon=horizon, embargo=embargo, validation_days=validation_days)
    try:
        split = split_windows(panel, config)
    except SplitError:
        assume(False)

    for earlier, later in (("train", "validation"), ("validation", "test")):
        label_ends = panel.session[panel.label_row()[split.part(earlier)]]
        first = panel.session[split.part(later)].min()
        assert label_ends.max() + embargo < first
    days = [set(panel.date[split.part(name)].tolist()) for name in PARTS]
    assert days[0].isdisjoint(days[1])
    assert days[1].isdisjoint(days[2])
    assert days[0].isdisjoint(days[2])


@pytest.mark.parametrize("embargo", [0, 1, 3])
@pytest.mark.parametrize(
    ("before", "kept"),
    [(3, True), (2, False), (1, False)],  # sessions before the split: horizon + 1, horizon, horizon - 1
)
def test_the_fence_between_train_and_validation_stands_at_the_horizon(
    before: int, kept: bool, embargo: int
) -> None:
    split = split_windows(universe(1), panel_config := replace(CONFIG, embargo=embargo))
    panel = universe(1)
    train_sessions = set(panel.session[split.train].tolist())
    first_validation = 44 - panel_config.validation_days

    assert (first_validation - before - embargo in train_sessions) is kept
    validation_sessions = set(panel.session[split.validation].tolist())
    assert (44 - before - embargo in validation_sessions) is kept
    assert min(validation_sessions) == first_validation


def test_a_label_over_missing_sessions_ends_where_its_bar_is() -> None:
    # One ticker trades every day; the other not on the three days before validation begins, so that its
    # label of two bars, from session 30, ends on session 35 and not on session 32.
    frame, _ = universe_frame(2, tickers=2, sessions=60)
    absent = (pl.col("ticker") == "T1") & pl.col("date").is_between(day(31), day(33))
    frame = frame.filter(~absent)
    logs = pl.col("close").log()
    target = frame.select((logs.shift(-2) - logs).over("ticker")).to_series()
    panel = Panel.from_frame(frame, target, 2)
    split = split_windows(panel, replace(CONFIG, test_start=day(44)))

    last = {name: panel.session[split.train[panel.ticker[split.train] == name]].max() for name in (0, 1)}
    assert last == {0: 29 - 1, 1: 31}


@pytest.mark.parametrize("folds", [1, 2, 3, 5])
def test_test_spans_of_the_folds_partition_the_test_period(folds: int) -> None:
    panel = universe(3, sessions=90, missing=0.05)
    splits = [split_windows(panel, replace(CONFIG, folds=folds, fold=fold)) for fold in range(folds)]

    together = np.concatenate([split.test for split in splits])
    whole = split_windows(panel, CONFIG).test
    assert len(together) == len(set(together.tolist()))
    assert set(whole.tolist()) == set(together.tolist())
    sizes = [len(set(panel.session[split.test].tolist())) for split in splits]
    assert max(sizes) - min(sizes) <= 1 + CONFIG.horizon  # the last span's last bars have no label


def test_training_expands_and_starts_at_the_same_bar_from_fold_to_fold() -> None:
    panel = universe(3, sessions=90)
    splits = [split_windows(panel, replace(CONFIG, folds=3, fold=fold)) for fold in range(3)]

    for earlier, later in itertools.pairwise(splits):
        assert set(earlier.train.tolist()) < set(later.train.tolist())
        assert earlier.boundaries["train_start"] == later.boundaries["train_start"]


def test_stride_thins_training_alone_and_keeps_the_same_days_for_every_ticker() -> None:
    panel = universe(4)
    every, third = split_windows(panel, CONFIG), split_windows(panel, replace(CONFIG, stride=3))

    assert (third.validation.tolist(), third.test.tolist()) == (
        every.validation.tolist(),
        every.test.tolist(),
    )
    kept = [row for row in every.train.tolist() if panel.session[row] % 3 == 0]
    assert third.train.tolist() == kept


def test_boundaries_are_the_first_and_last_window_end_of_each_part() -> None:
    panel = universe(5)
    split = split_windows(panel, CONFIG)

    assert split.boundaries == {
        "train_start": str(day(3)),
        "train_end": str(day(31)),
        "validation_start": str(day(34)),
        "validation_end": str(day(41)),
        "test_start": str(day(44)),
        "test_end": str(day(57)),
    }


def test_a_ticker_without_a_window_is_left_out_with_one_line(caplog: pytest.LogCaptureFixture) -> None:
    frame, target = universe_frame(6, tickers=2)
    short = frame.filter(pl.col("ticker") == "T1")[:3].with_columns(ticker=pl.lit("SHORT"))
    panel = Panel.from_frame(
        pl.concat([frame, short]), pl.concat([target, pl.Series([None] * 3, dtype=pl.Float64)]), 2
    )

    with caplog.at_level(logging.WARNING):
        split = split_windows(panel, CONFIG)

    assert [record.getMessage() for record in caplog.records] == [
        "SHORT: left out, no window of 4 bars; its longest run with every feature known is 3"
    ]
    assert {panel.tickers[index] for index in panel.ticker[split.train]} == {"T1", "T2"}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"length": 61}, r"^windows\.length: no history has 61 bars .* longest has 60; shorten"),
        ({"test_start": day(58)}, r"^windows\.horizon: 2 bars is too long for the test span, 2 sessions"),
        ({"test_start": day(99)}, r"^windows\.test_start: no window has a known return from 2020-04-09"),
        ({"folds": 9, "fold": 8}, r"^windows\.folds: 9 leave the test span of fold 8 2 sessions"),
        ({"folds": 40, "fold": 0}, r"^windows\.folds: 40 leave the test span of fold 0 0 sessions"),
        ({"validation_days": 2}, r"^windows\.validation_days: 2 sessions before 2020-02-14, less"),
        ({"embargo": 8}, r"^windows\.validation_days: .* windows\.embargo 8, leave no window"),
        ({"validation_days": 40}, r"^windows\.test_start: no training window"),
        ({"validation_days": 400}, r"^windows\.test_start: no training window"),
    ],
)
def test_an_empty_part_names_the_key_and_the_remedy(change: dict[str, object], message: str) -> None:
    with pytest.raises(SplitError, match=message) as error:
        split_windows(universe(7), replace(CONFIG, **change))

    assert "\n" not in str(error.value)


def test_a_test_span_no_ticker_reaches_is_named() -> None:
    # The universe has the sessions, but only of a ticker too short for a window.
    frame, target = universe_frame(8, tickers=1, sessions=30)
    late = frame[:3].with_columns(ticker=pl.lit("LATE"), date=pl.Series([day(44), day(45), day(46)]))
    panel = Panel.from_frame(
        pl.concat([frame, late]), pl.concat([target, pl.Series([None] * 3, dtype=pl.Float64)]), 2
    )

    with pytest.raises(SplitError, match=r"^windows\.test_start: no window has a known return"):
        split_windows(panel, CONFIG)
