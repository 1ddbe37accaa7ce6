from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from forecasting.made import make_forecaster
from studies.conftest import made_up_study
from tracking.promotable import champion, give_model

from candlecast.errors import StudyError, TrackingError
from candlecast.studies.champion import promote_winner, winner
from candlecast.studies.comparison import Comparison
from candlecast.studies.study import Control
from candlecast.tracking.backend import connect
from candlecast.tracking.model_log import NAME
from candlecast.tracking.store import Store

# By conftest's construction: the seed with the lowest validation loss, and the one with the best test scores.
BY_VALIDATION, BY_TEST = 3, 0


def stated(comparison: Comparison, **changes: Any) -> Comparison:
    """The same runs by a study that differs in what is named."""
    assert comparison.study is not None
    return replace(comparison, study=replace(comparison.study, **changes))


def decided_by(comparison: Comparison, metric: str) -> Comparison:
    assert comparison.study is not None
    return stated(comparison, decision=replace(comparison.study.decision, metric=metric))


@pytest.mark.parametrize(
    ("metric", "arm"), [("test/log_loss_error", "accumulated"), ("test/brier_error", "small")]
)
def test_the_better_arm_wins_by_its_run_with_the_lowest_validation_loss(
    comparison: Comparison, metric: str, arm: str
) -> None:
    won = winner(decided_by(comparison, metric))
    assert won.arm == arm
    metrics = {trial.seed: trial.run.metrics for trial in comparison.of(arm)}
    assert min(metrics, key=lambda seed: metrics[seed][metric]) == BY_TEST
    assert min(metrics, key=lambda seed: metrics[seed]["val/best_loss"]) == BY_VALIDATION
    assert won.trial.seed == BY_VALIDATION


@pytest.mark.parametrize(
    ("metric", "reason"),
    [
        ("test/mean_absolute_error", "Undecided: accumulated may or may not differ from small"),
        ("test/root_mean_squared_error", "No: accumulated and small are equally good"),
        ("test/not_there_error", "accumulated and small have 0 of the study's 5 seeds in common"),
    ],
)
def test_a_rule_that_prefers_neither_arm_names_no_winner(
    comparison: Comparison, metric: str, reason: str
) -> None:
    with pytest.raises(StudyError, match=f"made-up: no model is promoted: {reason}") as caught:
        winner(decided_by(comparison, metric))
    assert "\n" not in str(caught.value)


def test_a_rule_applied_before_every_seed_is_there_names_no_winner(comparison: Comparison) -> None:
    with pytest.raises(StudyError, match=r"accumulated and small have 5 of the study's 6 seeds .* study run"):
        winner(stated(comparison, seeds=(0, 1, 2, 3, 4, 5)))


def test_a_broken_control_names_no_winner(comparison: Comparison) -> None:
    control = Control(metric="val/best_loss", arm="accumulated", against="small", tolerance=1e-3)
    with pytest.raises(StudyError, match=r"accumulated and small must coincide and differ by 1\.00e-02"):
        winner(stated(comparison, controls=(control,)))


def test_runs_without_a_study_have_no_winner(comparison: Comparison) -> None:
    with pytest.raises(StudyError, match="without a study have no rule"):
        winner(replace(comparison, study=None))


def test_the_winner_is_promoted_only_if_its_own_test_span_shows_skill(
    made_up: Store, comparison: Comparison, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "experiments").mkdir()
    made_up_study(tmp_path / "experiments")
    # What `compare` gathers, gathered once for all tests here.
    monkeypatch.setattr("candlecast.studies.champion.compare_study", lambda reader, study: comparison)
    run_id = winner(comparison).trial.run.run_id
    client, _ = connect(made_up)
    made = make_forecaster(tmp_path / "made")
    give_model(client, run_id, made, tmp_path / "unproven", ())
    with pytest.raises(TrackingError, match=f"run {run_id} is not promoted: No skill"):
        promote_winner(tmp_path, made_up, "made-up")
    give_model(client, run_id, made, tmp_path / "proven", ("direction",))
    _, promoted = promote_winner(tmp_path, made_up, str(tmp_path / "experiments" / "made-up.yaml"))
    assert champion(made_up) == run_id
    version = client.get_model_version(NAME, promoted.version)
    assert "accumulated is better than small, by the rule stated beforehand" in version.description


def test_a_study_that_is_not_there_is_named(made_up: Store, tmp_path: Path) -> None:
    with pytest.raises(StudyError, match=r"no away in .*experiments; give the path"):
        promote_winner(tmp_path, made_up, "away")
