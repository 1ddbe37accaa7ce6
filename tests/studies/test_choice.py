import math
from pathlib import Path

import pytest

from candlecast.errors import StudyError
from candlecast.studies.cells import confirmation_cells, tuning_cells
from candlecast.studies.choice import check_inside, choose, mean_losses, means_table
from candlecast.studies.study import Study, load_study
from candlecast.tracking.identity import short_number

ROOT = Path(__file__).parents[2]


@pytest.fixture
def study() -> Study:
    return load_study(ROOT / "experiments" / "001-accumulation.yaml")


def losses(study: Study, best: dict[str, int]) -> dict[str, float]:
    """A loss for each cell, lowest at the value of the given index; seeds pull to both sides of it."""
    first, second = study.tuning.seeds
    side = {first: -0.3, second: 0.3}
    return {
        cell.name: 1.0 + abs(study.tuning.values.index(cell.value) - best[cell.arm]) + side[cell.seed]
        for cell in tuning_cells(study)
    }


def test_each_arm_gets_the_value_of_its_lowest_mean_over_seeds(study: Study) -> None:
    best = {arm: 1 + index % 3 for index, arm in enumerate(study.tuned_arms)}
    means = mean_losses(study, tuning_cells(study), losses(study, best))
    chosen = choose(study, means)
    assert {arm: chosen[arm] for arm in best} == {arm: study.tuning.values[at] for arm, at in best.items()}
    assert means["small"][chosen["small"]] == pytest.approx(1.0)
    check_inside(study, chosen)


def test_of_two_values_that_tie_the_smaller_is_chosen(study: Study) -> None:
    means = {arm: {0.1: 2.0, 0.01: 2.0, 0.001: 3.0} for arm in study.tuned_arms}
    assert choose(study, means) == dict.fromkeys(study.arms, 0.01)


def test_an_identity_control_takes_the_value_of_the_arm_it_controls_and_is_not_tuned(study: Study) -> None:
    assert study.arms["large"].tuned_as == "accumulated"
    assert not [cell for cell in tuning_cells(study) if cell.arm == "large"]
    best = {"small": 1, "accumulated": 3, "small-matched-beta2": 2}
    chosen = choose(study, mean_losses(study, tuning_cells(study), losses(study, best)))
    assert chosen["large"] == chosen["accumulated"] == study.tuning.values[3]
    confirmed = [cell for cell in confirmation_cells(study, chosen) if cell.arm == "large"]
    assert {cell.seed for cell in confirmed} == {*study.seeds}


def test_a_cell_without_a_loss_is_named(study: Study) -> None:
    known = losses(study, dict.fromkeys(study.arms, 2))
    missing = known.popitem()[0]
    with pytest.raises(StudyError, match=f"1 tuning cells are not done, {missing} among them"):
        mean_losses(study, tuning_cells(study), known)


def test_an_optimum_at_the_edge_stops_and_says_on_which_side_to_widen(study: Study) -> None:
    values = study.tuning.values
    chosen = dict.fromkeys(study.arms, values[2]) | {"small": values[0], "accumulated": values[-1]}
    with pytest.raises(StudyError) as caught:
        check_inside(study, chosen)
    low, high = short_number(values[0]), short_number(values[-1])
    assert f"small at {low} (add values below it), accumulated at {high} (add values above it)" in str(
        caught.value
    )


def test_the_table_marks_what_was_chosen(study: Study) -> None:
    means = mean_losses(study, tuning_cells(study), losses(study, dict.fromkeys(study.arms, 2)))
    lines = means_table(study, means, choose(study, means)).splitlines()
    assert lines[1].split() == [short_number(value) for value in study.tuning.values]
    row = [f"{1 + abs(index - 2):.4f}" for index in range(len(study.tuning.values))]
    assert lines[2].split() == ["small", *row[:2], "1.0000*", *row[3:]]


def test_a_value_at_which_a_training_diverges_is_never_chosen(study: Study) -> None:
    known = losses(study, dict.fromkeys(study.arms, 2))
    diverged = next(cell for cell in tuning_cells(study) if cell.value == study.tuning.values[2])
    known[diverged.name] = math.inf
    means = mean_losses(study, tuning_cells(study), known)
    chosen = choose(study, means)
    assert chosen[diverged.arm] in (study.tuning.values[1], study.tuning.values[3])
    (row,) = [
        row for row in means_table(study, means, chosen).splitlines() if row.startswith(f"{diverged.arm} ")
    ]
    assert row.split()[3] == "diverged"
