"""The purge and the embargo against purgedcv, an independent library for them."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from oracle.panels import CONFIG, universe
from purgedcv import TemporalLeakageError, purge
from purgedcv.diagnostics import assert_groups_disjoint, assert_no_temporal_leakage

from candlecast.errors import SplitError
from candlecast.windows.panel import Panel
from candlecast.windows.split import PARTS, split_windows

DAY = pd.Timedelta(days=1)


def label_intervals(panel: Panel) -> tuple[pd.Series, pd.Series]:
    """Return the session in which each window is forecast, and the one after its label ends, as days: the
    library's intervals leave out their end, and a label needs the close of its last session.
    """
    label_row = panel.label_row()
    last = np.where(label_row >= 0, panel.session[label_row], panel.session)
    origin = pd.Timestamp("2000-01-01")
    return tuple(pd.Series(origin + DAY * sessions) for sessions in (panel.session, last + 1))


@given(
    seed=st.integers(0, 10**6),
    horizon=st.integers(1, 6),
    embargo=st.integers(0, 3),
    validation_days=st.integers(10, 16),
    missing=st.sampled_from([0.0, 0.05, 0.15]),
)
@settings(max_examples=50, deadline=None)
def test_exactly_the_windows_are_left_out_that_purgedcv_leaves_out(
    seed: int, horizon: int, embargo: int, validation_days: int, missing: float
) -> None:
    panel = universe(seed, horizon=horizon, missing=missing)
    config = replace(CONFIG, horizon=horizon, embargo=embargo, validation_days=validation_days)
    try:
        split = split_windows(panel, config)
    except SplitError:
        assume(False)
    predicted, evaluated = label_intervals(panel)
    known = panel.window_ends(config.length)
    known = known[np.isfinite(panel.target[known])]

    for earlier, later in (("train", "validation"), ("validation", "test")):
        rows, first = split.part(later), panel.session[split.part(later)].min()
        assume(first == {"validation": 44 - validation_days, "test": 44}[later])  # some ticker traded then
        candidates = known[panel.session[known] < first]
        if earlier == "validation":
            candidates = candidates[panel.session[candidates] >= 44 - validation_days]
        kept = purge(candidates, rows, predicted, evaluated, purge_horizon=embargo * DAY)
        assert kept.tolist() == split.part(earlier).tolist()


def test_purgedcv_finds_no_leak_and_no_date_in_two_parts() -> None:
    panel = universe(1, missing=0.1)
    split = split_windows(panel, replace(CONFIG, embargo=2))
    predicted, evaluated = label_intervals(panel)

    for earlier, later in (("train", "validation"), ("train", "test"), ("validation", "test")):
        rows = split.part(earlier), split.part(later)
        assert_no_temporal_leakage(*rows, predicted, evaluated, purge_horizon=2 * DAY)
        assert_groups_disjoint(*rows, panel.session)
    assert len(PARTS) == 3


def test_the_audit_would_see_a_leak_of_one_session() -> None:
    panel = universe(1)
    split = split_windows(panel, CONFIG)
    predicted, evaluated = label_intervals(panel)
    one_more = np.append(split.train, split.train[-1] + 1)

    with pytest.raises(TemporalLeakageError):
        assert_no_temporal_leakage(one_more, split.validation, predicted, evaluated)
