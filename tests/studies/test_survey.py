from pathlib import Path
from typing import Any

import pytest

from candlecast.studies import survey as module
from candlecast.studies.cells import Cell
from candlecast.studies.dvc_queue import State, Task
from candlecast.studies.experiments import Experiment
from candlecast.studies.survey import done_run, enter, survey
from candlecast.tracking.studies import ARM, DIVERGED, FINGERPRINT, SECONDS, CellRun

LEFT = Experiment("c", "0" * 40, "1" * 40)
FINISHED = CellRun("run", True, {}, {})
DIVERGENT = CellRun(
    "run", False, {"failure": "update 3, micro-step 1: the loss is not finite; windows A"}, {}
)


def cell(phase: Any = "tuning") -> Cell:
    return Cell("s", "arm", phase, 0.1, 0, "c", {})


class Place:
    """A place where the cell is now made of `now`, and was queued as `queued`."""

    def __init__(self, now: str = "new", queued: str | None = "new", run: CellRun | None = None) -> None:
        self.root, self.threads = Path(), 1
        self.entered: dict[str, str] = {}
        self.alone: tuple[str, str] | None = None
        place = self

        class Fingerprints:
            def of(self, cell: Cell) -> str:
                return now

        class Ledger:
            def get(self, name: str) -> str | None:
                return queued

        class Log:
            def runs(self, names: Any) -> dict[str, CellRun]:
                return {"c": run} if run else {}

            def enter(self, run_id: str, tags: dict[str, str]) -> None:
                place.entered = tags

            def supersede_others(self, name: str, run_id: str) -> None:
                place.alone = (name, run_id)

        self.fingerprints, self.ledger, self.log = Fingerprints(), Ledger(), Log()


def done(place: Any, experiment: Experiment | None, run: CellRun | None, phase: str = "tuning") -> bool:
    return done_run(place, cell(phase), experiment, run) is not None


def test_a_cell_is_done_when_dvc_and_mlflow_both_have_it_as_it_would_be_made_now() -> None:
    assert done(Place(), LEFT, FINISHED)
    assert not done(Place(), None, FINISHED)
    assert not done(Place(), LEFT, CellRun("run", False, {}, {}))
    assert not done(Place(now="newer"), LEFT, FINISHED)
    assert not done(Place(queued=None), LEFT, FINISHED)


def test_what_a_run_says_of_itself_counts_before_what_was_noted_here() -> None:
    tagged = CellRun("run", True, {FINGERPRINT: "new"}, {})
    assert done(Place(queued=None), LEFT, tagged)
    assert done(Place(queued="old"), LEFT, tagged)


def test_a_training_that_diverged_while_it_was_tuned_is_done_and_in_a_confirmation_it_failed() -> None:
    assert done(Place(), None, DIVERGENT)
    assert not done(Place(now="newer"), None, DIVERGENT)
    assert not done(Place(), None, DIVERGENT, "confirmation")
    assert not done(Place(), None, CellRun("run", False, {"failure": "no memory"}, {}))


def test_a_run_is_entered_once_with_arm_time_and_why_it_diverged() -> None:
    place: Any = Place()
    enter(place, cell(), DIVERGENT, 12.34)
    assert place.entered[ARM] == "arm"
    assert place.entered[SECONDS] == "12.3"
    assert place.alone == ("c", "run")  # what an earlier try left counts no more
    assert "the loss is not finite" in place.entered[DIVERGED]
    known = CellRun("run", True, place.entered, {})
    place.entered = {}
    enter(place, cell(), known, None)
    assert place.entered == {}


@pytest.mark.parametrize(
    ("state", "queued", "where"),
    [
        ("queued", "new", "waiting"),
        ("running", "new", "waiting"),
        ("ended", "new", "to_run"),
        ("queued", "old", "to_run"),
    ],
)
def test_an_entry_of_the_queue_counts_while_it_would_run_the_cell_as_it_is_now(
    state: State, queued: str, where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "experiments", lambda root: [])
    place: Any = Place(queued=queued)
    found = survey(place, [cell()], [Task("c", state, "rev"), Task("other", "queued", "rev2")])
    assert getattr(found, where) == [cell()]
    assert len(found.stale) == (where == "to_run")
