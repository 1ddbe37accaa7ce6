import dataclasses
import math
import os
from pathlib import Path

import numpy as np
import pytest
from scipy import stats
from studies.conftest import DIFFERENCES, made_up_study
from studies.fabricated import PARAMS, add_run, training_losses, validation_loss

from candlecast.errors import EvaluationError
from candlecast.studies.article import article_claims
from candlecast.studies.cells import confirmation_cells
from candlecast.studies.coincidence import coincidence
from candlecast.studies.comparison import Comparison, compare_runs, compare_study
from candlecast.studies.comparison_tables import tuning_table
from candlecast.studies.judgement import judge, power_sentence
from candlecast.studies.roles import find_roles
from candlecast.studies.study import load_study
from candlecast.studies.trials import best_loss
from candlecast.tracking.backend import connect
from candlecast.tracking.runs import RunReader
from candlecast.tracking.store import Store, quiet, tracking_store
from candlecast.tracking.studies import DIVERGED


def test_every_arm_has_its_runs_by_seed(comparison: Comparison) -> None:
    assert {arm: [trial.seed for trial in comparison.of(arm)] for arm in comparison.arms} == {
        "small": [0, 1, 2, 3, 4],
        "accumulated": [0, 1, 2, 3, 4],
        "large": [0, 1, 2, 4],
    }


def test_a_cell_without_a_run_is_named(comparison: Comparison) -> None:
    assert "made-up-large-lr1e-3-s3 (confirmation): not in the tracking store" in comparison.notes


def test_the_courses_are_those_that_were_logged(comparison: Comparison) -> None:
    trial = comparison.of("accumulated")[2]
    assert trial.training["loss"].to_list() == pytest.approx(training_losses(2, 128).tolist())
    assert trial.training["samples_seen"].to_list() == [128 * update for update in range(1, 9)]
    assert trial.training["seconds"].to_list() == pytest.approx([1.28 * update for update in range(1, 9)])
    assert trial.validation["loss"].to_list() == pytest.approx(
        [validation_loss(2, -0.01, samples) for samples in range(128, 1025, 128)]
    )


@pytest.mark.parametrize("metric", DIFFERENCES)
def test_the_differences_are_those_that_were_planted(comparison: Comparison, metric: str) -> None:
    mean, deviation = DIFFERENCES[metric]
    (contrast,) = comparison.contrasts  # the control's twin is set against none
    effect = contrast.effects[f"test/{metric}"].paired
    reach = stats.t.isf(0.025, 4) * deviation / math.sqrt(5)
    assert effect.interval is not None
    assert (effect.mean, effect.interval.low, effect.interval.high) == pytest.approx(
        (mean, mean - reach, mean + reach)
    )


@pytest.mark.parametrize(
    ("metric", "verdict"),
    [
        ("test/log_loss_error", "better"),
        ("test/brier_error", "worse"),
        ("test/root_mean_squared_error", "equivalent"),
        ("test/mean_absolute_error", "undecided"),
        ("test/not_there", "no data"),
    ],
)
def test_the_studys_own_rule_decides(
    comparison: Comparison, tmp_path: Path, metric: str, verdict: str
) -> None:
    judgement = judge(dataclasses.replace(comparison, study=made_up_study(tmp_path, metric)))
    assert judgement is not None
    assert judgement.verdict == verdict


def test_equal_updates_and_equal_windows_are_different_budgets(comparison: Comparison) -> None:
    # At 8 updates the small batch has seen 128 windows, the accumulated one all 1024.
    small, accumulated = (comparison.table[arm] for arm in ("small", "accumulated"))
    assert small["equal/updates_loss"][1, 0] == pytest.approx(validation_loss(1, 0.0, 128))
    assert accumulated["equal/updates_loss"][1, 0] == pytest.approx(validation_loss(1, -0.01, 1024))
    assert small["equal/samples_loss"][1, 0] == pytest.approx(validation_loss(1, 0.0, 1024))


def test_the_share_of_clipped_updates_is_counted(comparison: Comparison) -> None:
    assert set(comparison.table["small"]["total/clipped_share"].values()) == {0.25}


def test_arms_are_set_against_the_training_mean(comparison: Comparison) -> None:
    small = next(each for each in comparison.beside_baseline if each.arm == "small")
    expected = np.mean([0.69 + 0.01 * seed for seed in range(5)]) - 0.6931
    assert small.effects["test/log_loss_error"].paired.mean == pytest.approx(expected)


def test_arms_that_should_coincide_are_held_together(comparison: Comparison) -> None:
    apart = coincidence(comparison, "accumulated", "large")
    assert apart is not None
    assert (apart.pairs, apart.training, apart.validation) == (4, 0.0, 0.0)
    assert set(apart.scores) == {f"test/{name}" for name in DIFFERENCES}


def test_a_curve_that_is_smooth_by_averaging_alone_is_found_out(comparison: Comparison) -> None:
    roles = find_roles({arm: comparison.of(arm)[0] for arm in comparison.arms})
    assert roles is not None
    assert (roles.small, roles.accumulated, roles.large) == ("small", "accumulated", "large")
    claims = article_claims(comparison, roles, {})
    words = [claim.word for claim in claims]
    assert words[1:3] == ["holds", "averaging alone"]
    assert "100% of the difference" in claims[3].figure


def test_a_run_made_before_the_study_was_edited_is_left_out_by_name(made_up: Store, tmp_path: Path) -> None:
    study = made_up_study(tmp_path)
    path = tmp_path / "edited.yaml"
    path.write_text((tmp_path / "made-up.yaml").read_text().replace("model.width: 8", "model.width: 16"))
    assert study.settings["model.width"] == 8
    with pytest.raises(EvaluationError, match="made-up: no run of the confirmation fits the study"):
        compare_study(RunReader(made_up), load_study(path))


def test_a_study_that_was_not_run_says_how_to_run_it(tmp_path: Path) -> None:
    store = tracking_store({}, tmp_path)
    with pytest.raises(EvaluationError, match=r"holds 0 runs of this study .* candlecast study run"):
        compare_study(RunReader(store), made_up_study(tmp_path))


def test_any_runs_are_grouped_by_what_differs_and_paired_by_seed(made_up: Store) -> None:
    reader = RunReader(made_up)
    names = [f"made-up-{arm}-lr1e-3-s{seed}" for seed in (2, 4) for arm in ("small", "accumulated")]
    names += ["made-up-small-lr1e-3-s0", "made-up-large-lr1e-3-s1"]
    found = compare_runs(reader, reader.named(names), "some", 0.95)
    assert list(found.arms) == ["16 x 1", "16 x 8", "128 x 1"]
    assert [(each.arm, each.against) for each in found.contrasts] == [
        ("16 x 8", "16 x 1"), ("128 x 1", "16 x 1"), ("128 x 1", "16 x 8"),
    ]  # fmt: skip
    assert found.contrasts[0].effects["val/best_loss"].paired.pairs == 2
    assert (
        "seed 0 was trained as 16 x 1 and not as 16 x 8; it enters no difference between them" in found.notes
    )
    assert "val/best_loss" not in found.contrasts[1].effects  # no seed in common


def test_five_seeds_are_said_to_tell_little() -> None:
    sentence = power_sentence(5)
    assert "1.7 times the spread" in sentence
    assert "0.0625" in sentence


def test_folds_of_a_seed_count_once(tmp_path: Path) -> None:
    quiet(os.environ)
    store = tracking_store({}, tmp_path)
    client, experiment = connect(store)
    study = made_up_study(tmp_path)
    cells = confirmation_cells(study, dict.fromkeys(study.arms, 1e-3))
    for cell in (cell for cell in cells if cell.arm in ("small", "accumulated") and cell.seed < 2):
        for fold in (0, 1):
            value = 0.7 + (0.1 * (cell.seed + 1) + 0.02 * fold if cell.arm == "accumulated" else 0.0)
            params = {**PARAMS, "windows": PARAMS["windows"] | {"fold": fold, "folds": 2}}
            add_run(client, experiment, cell, 0.0, {"log_loss_error": value}, params=params)
    reader = RunReader(store)
    found = compare_runs(reader, reader.matching(""), "folds", 0.95)
    effect = found.contrasts[0].effects["test/log_loss_error"]
    assert len(effect.differences) == 4
    assert (effect.paired.pairs, abs(effect.paired.mean)) == (2, pytest.approx(0.16))


def test_a_rate_at_which_trainings_diverge_is_shown_as_such_and_is_no_edge(
    comparison: Comparison,
) -> None:
    run = comparison.of("small")[0].run
    stopped = dataclasses.replace(run, status="FAILED", tags={**run.tags, DIVERGED: "the loss is nan"})
    assert best_loss(stopped) == math.inf
    highest = max(tuned.value for tuned in comparison.tuned)
    tuned = [
        *comparison.tuned,
        *(
            dataclasses.replace(tuned, value=10 * highest, loss=math.inf)
            for tuned in comparison.tuned
            if tuned.value == highest
        ),
    ]
    table = tuning_table(dataclasses.replace(comparison, tuned=tuned))
    column = [name for name, _ in table.heads].index(f"{10 * highest:g}")
    for row in table.rows:
        assert row.cells[column].text == "diverged"
        assert "upper edge" not in row.cells[-1].text
