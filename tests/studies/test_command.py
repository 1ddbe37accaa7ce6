import io
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from candlecast.errors import StudyError
from candlecast.studies import command
from candlecast.studies.cells import Cell, tuning_cells
from candlecast.studies.options import Options
from candlecast.studies.study import TUNING_METRIC, Study, load_study
from candlecast.tracking.studies import CellRun

ROOT = Path(__file__).parents[2]


class Log:
    """What is written of the whole study."""

    def __init__(self) -> None:
        self.said: dict[str, str] = {}
        self.complete: bool | None = None
        self.superseded: list[str] = []
        self.earlier: dict[str, CellRun] = {}

    def describe(self, tags: dict[str, str]) -> None:
        self.said |= tags

    def close(self, *, complete: bool) -> None:
        self.complete = complete

    def confirmed(self) -> dict[str, CellRun]:
        return self.earlier

    def supersede(self, run_id: str) -> None:
        self.superseded.append(run_id)


class Runner:
    """Gives every cell a loss that is lowest at one value of the grid for each arm."""

    def __init__(self, study: Study, best: dict[str, int]) -> None:
        self.study, self.best = study, best
        self.ran: list[list[Cell]] = []

    def run(self, cells: Sequence[Cell]) -> dict[str, CellRun]:
        self.ran.append([*cells])
        values = self.study.tuning.values
        return {
            cell.name: CellRun(
                cell.name, True, {}, {TUNING_METRIC: abs(values.index(cell.value) - self.best[cell.arm])}
            )
            for cell in cells
        }


class Scene:
    def __init__(self, study: Study, best: dict[str, int]) -> None:
        self.study, self.log, self.stream = study, Log(), io.StringIO()
        self.runner = Runner(study, best)

    def run(self, **options: Any) -> None:
        command.run_study(ROOT, self.study, Options(**options), {}, self.stream)


@pytest.fixture
def scene(monkeypatch: pytest.MonkeyPatch) -> Iterator[Scene]:
    study = load_study(ROOT / "experiments" / "001-accumulation.yaml")
    scene = Scene(study, {arm: 1 + index % 2 for index, arm in enumerate(study.arms)})

    class Place:
        log = scene.log

    monkeypatch.setattr(command, "check_ready", lambda root: None)
    monkeypatch.setattr(command, "open_place", lambda *_: Place())
    monkeypatch.setattr(command, "_runner", lambda *_: scene.runner)
    return scene


def test_each_arm_is_confirmed_at_its_own_value_once_all_are_tuned(scene: Scene) -> None:
    scene.run()
    tuned, confirmed = scene.runner.ran
    assert tuned == tuning_cells(scene.study)
    values = scene.study.tuning.values
    assert {(cell.arm, cell.value) for cell in confirmed} == {
        (name, values[scene.runner.best[arm.tuned_as or name]]) for name, arm in scene.study.arms.items()
    }
    assert {cell.seed for cell in confirmed} == set(scene.study.seeds)
    assert scene.log.complete
    assert scene.log.said["candlecast.chosen.small"] == str(values[1])


def test_tuning_alone_leaves_the_test_span_closed_and_the_study_open(scene: Scene) -> None:
    scene.run(phase="tuning")
    (tuned,) = scene.runner.ran
    assert all(cell.targets == ("train",) for cell in tuned)
    assert scene.log.complete is False


def test_an_optimum_at_the_edge_is_confirmed_only_when_it_is_accepted_and_the_study_says_so(
    scene: Scene,
) -> None:
    scene.runner.best["small"] = 0
    with pytest.raises(StudyError, match="grid's edge for small"):
        scene.run()
    assert len(scene.runner.ran) == 1
    scene.run(accept_edge=True)
    assert {cell.value for cell in scene.runner.ran[2] if cell.arm == "small"} == {
        scene.study.tuning.values[0]
    }
    assert "small" in scene.log.said["candlecast.edge"]


def test_a_second_opening_of_the_test_span_is_said_and_the_first_no_longer_counts(scene: Scene) -> None:
    scene.log.earlier = {"001-accumulation-small-lr9-s0": CellRun("old", True, {}, {})}
    scene.run()
    assert scene.log.superseded == ["old"]
    assert scene.log.said["candlecast.opened_again"] == "001-accumulation-small-lr9-s0"
    assert "the test span is opened again" in scene.stream.getvalue()


def test_a_cell_s_command_queues_what_the_runner_would(scene: Scene) -> None:
    cell = tuning_cells(scene.study)[0]
    words = command.command(cell)
    assert words.startswith(f"dvc exp run --queue -n {cell.name} -S ")
    assert words.endswith(" train")
    assert "-S accum.micro_batch=16 -S accum.steps=1" in words
