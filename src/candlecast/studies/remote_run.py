"""Run a phase of a study on other machines, through a git remote, a DVC remote and an MLflow server."""

import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, TextIO

from candlecast.errors import StudyError
from candlecast.studies.board import Board
from candlecast.studies.cells import Cell
from candlecast.studies.pools import Ended, Pool
from candlecast.studies.remote_cell import Order
from candlecast.studies.run import check_failed, open_board
from candlecast.studies.survey import Place, enter, enter_done, make_way, run_of, survey
from candlecast.tracking.identity import CODE, git
from candlecast.tracking.studies import CellRun

_POLL: Final = 2.0  # seconds between looks at the pool


@dataclass(frozen=True, slots=True)
class Origin:
    """Where other machines find the code, and the revision they run."""

    remote: str
    url: str
    revision: str


@dataclass(slots=True)
class _Phase:
    waiting: list[Cell]
    out: dict[str, tuple[Cell, float]] = field(default_factory=dict)  # with the time it was given out
    failed: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RemoteRunner:
    """Gives cells out to `pool`, at most `jobs` at a time, and enters what they leave into the log."""

    place: Place
    pool: Pool
    origin: Origin
    variables: Mapping[str, str]  # of each cell's environment
    jobs: int
    stream: TextIO

    def run(self, cells: Sequence[Cell]) -> dict[str, CellRun]:
        """Bring every cell to its end and return their runs.

        Raises
        ------
        StudyError
            Cells failed; the others are done.
        """
        fetch_experiments(self.place.root, self.origin)
        state = survey(self.place, cells, ())
        enter_done(self.place, cells, state)
        board = open_board(self.stream, cells, state, self.jobs)
        _remove_pushed(self.place.root, self.origin, {cell.name for cell in state.to_run})
        make_way(self.place, state.to_run)
        phase = _Phase([*state.to_run])
        try:
            while phase.waiting or phase.out:
                self._give_out(phase)
                board.see([*phase.out], len(phase.waiting))
                for ended in self.pool.ended(_POLL):
                    self._settle(phase, board, ended)
        finally:
            for cell, _ in phase.out.values():
                board.note(f"called back {cell.name}; run the same command again to go on")
            self.pool.close()
        check_failed(phase.failed, len(cells))
        return survey(self.place, cells, ()).done

    def _give_out(self, phase: _Phase) -> None:
        while phase.waiting and len(phase.out) < self.jobs:
            cell = phase.waiting.pop(0)
            order = Order(
                name=cell.name,
                url=self.origin.url,
                revision=self.origin.revision,
                assignments=tuple(cell.assignments()),
                targets=cell.targets,
                variables=self.variables,
            )
            self.pool.submit(order)
            phase.out[cell.name] = (cell, time.monotonic())

    def _settle(self, phase: _Phase, board: Board, ended: Ended) -> None:
        cell, since = phase.out.pop(ended.name)
        board.see([*phase.out], len(phase.waiting))
        fetch_experiments(self.place.root, self.origin)
        run = run_of(self.place, cell)
        if run is None:
            phase.failed[cell.name] = ended.reason or "it left no experiment or no finished run"
            board.fail(cell.name, phase.failed[cell.name])
            return
        seconds = time.monotonic() - since
        enter(self.place, cell, run, seconds)
        board.finish(cell.name, seconds)


def find_origin(root: Path, remote: str) -> Origin:
    """Return where other machines find this revision.

    Raises
    ------
    StudyError
        There is no such remote, the code has changes that are not committed, or the remote lacks the commit.
    """
    url = git(root, "remote", "get-url", remote)
    if url is None:
        raise StudyError(f"--git-remote {remote}: there is no such remote; see: git remote -v")
    if changed := git(root, "status", "--porcelain", "--", *CODE, "params.yaml", ".dvc/config"):
        raise StudyError(
            f"{changed.split()[-1]}: has changes that are not committed, and other machines run what is; "
            f"commit and run: git push {remote}"
        )
    revision = (git(root, "rev-parse", "HEAD") or "").strip()
    if not revision or not git(root, "branch", "--remotes", "--contains", revision, "--list", f"{remote}/*"):
        raise StudyError(f"--git-remote {remote}: lacks the current commit; run: git push {remote}")
    return Origin(remote, url.strip(), revision)


def fetch_experiments(root: Path, origin: Origin) -> None:
    """Bring the experiments' references here; their files stay where they are until asked for."""
    if git(root, "fetch", "--quiet", origin.remote, "refs/exps/*:refs/exps/*") is None:
        raise StudyError(f"--git-remote {origin.remote}: does not answer; see: git fetch {origin.remote}")


def _remove_pushed(root: Path, origin: Origin, names: Collection[str]) -> None:
    # What a changed cell left on the remote would come back with the next fetch.
    listed = git(root, "ls-remote", origin.remote, "refs/exps/*") or ""
    references = [line.partition("\t")[2] for line in listed.splitlines()]
    stale = [reference for reference in references if reference.rpartition("/")[2] in names]
    if stale and git(root, "push", "--quiet", origin.remote, "--delete", *stale) is None:
        raise StudyError(
            f"--git-remote {origin.remote}: does not let go of {stale[0]}; see: git push --delete"
        )
