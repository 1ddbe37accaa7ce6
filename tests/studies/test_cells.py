from pathlib import Path
from typing import Any

import pytest
from dvc.utils.hydra import apply_overrides

from candlecast.errors import ParamsError
from candlecast.params import read_params
from candlecast.studies.cells import apply, check_cell, confirmation_cells, tuning_cells, written
from candlecast.studies.study import Study, load_study

ROOT = Path(__file__).parents[2]
STUDIES = sorted((ROOT / "experiments").glob("*.yaml"))


@pytest.fixture
def study() -> Study:
    return load_study(ROOT / "experiments" / "001-accumulation.yaml")


def test_tuning_is_every_arm_at_every_value_over_the_tuning_seeds(study: Study) -> None:
    cells = tuning_cells(study)
    combinations = {(cell.arm, cell.value, cell.seed) for cell in cells}
    expected = len(study.tuned_arms) * len(study.tuning.values) * len(study.tuning.seeds)
    assert len(cells) == len(combinations) == len({cell.name for cell in cells}) == expected
    assert {cell.targets for cell in cells} == {("train",)}


def test_confirmation_is_each_arm_at_its_own_value_over_the_paired_seeds(study: Study) -> None:
    chosen = {arm: 1e-3 * (index + 1) for index, arm in enumerate(study.arms)}
    cells = confirmation_cells(study, chosen)
    assert [(cell.arm, cell.seed) for cell in cells] == [
        (arm, seed) for seed in study.seeds for arm in study.arms
    ]
    assert all(cell.value == chosen[cell.arm] and cell.targets == () for cell in cells)


def test_a_cell_is_named_after_study_arm_value_and_seed(study: Study) -> None:
    names = {cell.name for cell in tuning_cells(study)}
    assert "001-accumulation-small-matched-beta2-lr1e-3-s101" in names


def test_a_cell_overrides_settings_budget_arm_value_and_seed(study: Study) -> None:
    cell = next(cell for cell in tuning_cells(study) if cell.arm == "accumulated")
    assert {"accum.steps=8", "train.epochs=null", f"seed={cell.seed}"} <= {*cell.assignments()}
    assert f"train.peak_lr={cell.value}" in cell.assignments()


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        False,
        3,
        0.0003,
        1e-7,
        "sample",
        "2012-11-01",
        "null",
        "nan",
        'a "b" \\ c',
        "ends \\",
        'x\\"',
        (),
        (1, "x y", None),
    ],
)
def test_dvc_reads_back_what_is_written(value: Any, tmp_path: Path) -> None:
    file = tmp_path / "params.yaml"
    file.write_text("section: {key: 0}\n")
    apply_overrides(file, [f"section.key={written(value)}"])
    read = read_params(file)["section"]["key"]
    expected = list(value) if isinstance(value, tuple) else value
    assert read == expected
    assert type(read) is type(expected)


def test_overrides_are_applied_to_a_copy() -> None:
    params = {"seed": 1, "data": {"synthetic": {"bars": 5}, "tickers": ["A"]}}
    changed = apply(params, {"data.synthetic.bars": 7, "data.tickers": (), "seed": 2})
    assert changed == {"seed": 2, "data": {"synthetic": {"bars": 7}, "tickers": []}}
    assert params["data"] == {"synthetic": {"bars": 5}, "tickers": ["A"]}


@pytest.mark.parametrize("key", ["model.weight", "modell.width", "model.width.x"])
def test_a_key_that_the_parameters_lack_is_named(key: str) -> None:
    with pytest.raises(ParamsError, match=f"{key}: not a key of params.yaml"):
        apply({"seed": 1, "model": {"width": 8}}, {key: 3})


@pytest.mark.parametrize("path", STUDIES, ids=lambda path: path.stem)
def test_every_cell_of_the_repository_s_studies_has_sound_parameters(path: Path) -> None:
    params = read_params(ROOT / "params.yaml")
    for cell in tuning_cells(load_study(path)):
        check_cell(cell, params)


def test_a_contradiction_in_a_cell_names_arm_and_key(study: Study) -> None:
    params = read_params(ROOT / "params.yaml") | {"windows": None}
    with pytest.raises(ParamsError, match=r"arms\.small: windows"):
        check_cell(tuning_cells(study)[0], params)
