import io
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from candlecast.errors import StudyError
from candlecast.studies import remote_run
from candlecast.studies.cells import Cell
from candlecast.studies.pools import Ended
from candlecast.studies.remote_cell import Order
from candlecast.studies.remote_run import Origin, RemoteRunner, fetch_experiments, find_origin
from candlecast.studies.survey import Survey
from candlecast.tracking.studies import CellRun


def git(folder: Path, *arguments: str) -> str:
    identity = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    return subprocess.check_output(["git", *identity, *arguments], cwd=folder, text=True).strip()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A repository whose one commit is on the remote called origin."""
    git(tmp_path, "init", "--quiet", "--bare", "origin.git")
    folder = tmp_path / "here"
    folder.mkdir()
    git(folder, "init", "--quiet")
    (folder / "params.yaml").write_text("seed: 1\n")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", "first")
    git(folder, "remote", "add", "origin", str(tmp_path / "origin.git"))
    git(folder, "push", "--quiet", "origin", "HEAD")
    return folder


def test_other_machines_run_the_commit_that_the_remote_has(root: Path) -> None:
    origin = find_origin(root, "origin")
    assert origin.revision == git(root, "rev-parse", "HEAD")
    assert git(root, "ls-remote", origin.url, "HEAD").startswith(origin.revision)


def test_a_remote_that_is_not_there_is_named(root: Path) -> None:
    with pytest.raises(StudyError, match="--git-remote upstream: there is no such remote"):
        find_origin(root, "upstream")


def test_what_is_not_committed_would_not_travel(root: Path) -> None:
    (root / "params.yaml").write_text("seed: 2\n")
    with pytest.raises(StudyError, match=r"params\.yaml: has changes that are not committed"):
        find_origin(root, "origin")


def test_what_is_not_pushed_cannot_be_cloned(root: Path) -> None:
    git(root, "commit", "--quiet", "--allow-empty", "--message", "second")
    with pytest.raises(
        StudyError, match="--git-remote origin: lacks the current commit; run: git push origin"
    ):
        find_origin(root, "origin")


def experiment_reference(root: Path, name: str) -> str:
    head = git(root, "rev-parse", "HEAD")
    return f"refs/exps/{head[:2]}/{head[2:]}/{name}"


def test_experiments_that_machines_pushed_come_here(root: Path) -> None:
    reference = experiment_reference(root, "cell")
    git(root, "push", "--quiet", "origin", f"HEAD:{reference}")
    origin = find_origin(root, "origin")
    fetch_experiments(root, origin)
    assert git(root, "rev-parse", reference) == origin.revision


def cell(name: str) -> Cell:
    return Cell("study", "arm", "tuning", 0.1, 0, name, {"seed": 3})


class Machines:
    """Carries out one order at a time, in the order given; `broken` ones leave nothing."""

    def __init__(self, broken: Sequence[str] = ()) -> None:
        self.orders: list[Order] = []
        self.open: list[str] = []
        self.most, self.broken, self.closed = 0, broken, False

    def submit(self, order: Order) -> None:
        self.orders.append(order)
        self.open.append(order.name)
        self.most = max(self.most, len(self.open))

    def ended(self, seconds: float) -> list[Ended]:
        name = self.open.pop(0)
        return [Ended(name, "dvc pull: no such remote" if name in self.broken else None)]

    def close(self) -> None:
        self.closed = True


@pytest.fixture
def entered(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Stand for DVC's references and MLflow's runs; the cells that were entered into the study."""
    names: list[str] = []
    monkeypatch.setattr(
        remote_run,
        "survey",
        lambda place, cells, tasks: Survey({}, [], [*cells], []) if not names else Survey({}, [], [], []),
    )
    monkeypatch.setattr(remote_run, "make_way", lambda place, cells: None)
    monkeypatch.setattr(remote_run, "enter", lambda place, cell, run, seconds: names.append(cell.name))
    return names


def runner(root: Path, machines: Machines, monkeypatch: pytest.MonkeyPatch) -> RemoteRunner:
    class Log:
        def runs(self, names: Sequence[str]) -> dict[str, CellRun]:
            return {name: CellRun(name, True, {}, {}) for name in names if name not in machines.broken}

    class Place:
        log = Log()

    place: Any = Place()
    place.root = root
    monkeypatch.setattr("candlecast.studies.survey.done_run", lambda place, cell, experiment, run: run)
    return RemoteRunner(place, machines, find_origin(root, "origin"), {"A": "b"}, 2, io.StringIO())


def test_cells_are_given_out_so_many_at_a_time_and_entered_as_they_end(
    root: Path, entered: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    machines = Machines()
    runner(root, machines, monkeypatch).run([cell(name) for name in "abc"])
    assert entered == ["a", "b", "c"]
    assert machines.most == 2
    assert machines.closed
    order = machines.orders[0]
    assert (order.name, order.assignments, order.targets) == ("a", ("seed=3",), ("train",))
    assert (order.revision, order.variables) == (git(root, "rev-parse", "HEAD"), {"A": "b"})


def test_a_cell_that_leaves_nothing_failed_and_the_others_are_done(
    root: Path, entered: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    machines = Machines(broken=["b"])
    with pytest.raises(StudyError, match="1 of 3 cells failed, b first: dvc pull: no such remote"):
        runner(root, machines, monkeypatch).run([cell(name) for name in "abc"])
    assert entered == ["a", "c"]


def test_what_a_changed_cell_left_on_the_remote_is_removed_before_it_runs(
    root: Path, entered: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a", "other"):
        git(root, "push", "--quiet", "origin", f"HEAD:{experiment_reference(root, name)}")
    runner(root, Machines(), monkeypatch).run([cell("a")])
    left = git(root, "ls-remote", "origin", "refs/exps/*")
    assert [line.rpartition("/")[2] for line in left.splitlines()] == ["other"]


def test_a_remote_that_does_not_answer_is_named(root: Path) -> None:
    gone = Origin("gone", "nowhere", "0")
    with pytest.raises(StudyError, match="--git-remote gone: does not answer"):
        fetch_experiments(root, gone)
