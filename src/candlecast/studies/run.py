"""Run a phase of a study on DVC's queue: what is not done yet, to its end, whatever is killed on the way."""

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, TextIO

from candlecast.errors import StudyError
from candlecast.studies.board import Board
from candlecast.studies.cells import Cell
from candlecast.studies.dvc_queue import Queue, Task
from candlecast.studies.survey import (
    Place,
    Survey,
    enter,
    enter_done,
    known_seconds,
    make_way,
    run_of,
    survey,
)
from candlecast.tracking.studies import CellRun

_POLL: Final = 2.0  # seconds between looks at the queue
_TRIES: Final = 3  # at a cell whose worker is killed, after which it counts as failed
_ABSENT: Final = 5  # looks at the queue without a trace of a cell, after which somebody has taken it out


@dataclass(slots=True)
class _Phase:
    """The cells of a phase that are on their way."""

    pending: dict[str, Cell]
    started: dict[str, float] = field(default_factory=dict)
    lost: Counter[str] = field(default_factory=Counter)
    absent: Counter[str] = field(default_factory=Counter)
    failed: dict[str, str] = field(default_factory=dict)
    single: bool = True  # one worker, until what all cells share has been made once


@dataclass(frozen=True, slots=True)
class Runner:
    """Runs cells through `queue` and enters what they leave into the study's log."""

    place: Place
    queue: Queue
    jobs: int
    stream: TextIO
    sleep: Callable[[float], None] = time.sleep

    def run(self, cells: Sequence[Cell]) -> dict[str, CellRun]:
        """Bring every cell to its end and return their runs.

        Raises
        ------
        StudyError
            Cells failed; the others are done.
        """
        state = survey(self.place, cells, self.queue.tasks())
        enter_done(self.place, cells, state)
        board = open_board(self.stream, cells, state, self.jobs)
        phase = _Phase({cell.name: cell for cell in (*state.waiting, *state.to_run)})
        try:
            self._queue_up(state)
            while phase.pending:
                self._look(phase, board)
                self.sleep(_POLL)
        except BaseException:
            self._halt(phase, board)
            raise
        finally:
            self.queue.stop()
        check_failed(phase.failed, len(cells))
        return survey(self.place, cells, ()).done

    def _queue_up(self, state: Survey) -> None:
        self.queue.interrupt([task for task in state.stale if task.state == "running"])
        self.queue.remove([task for task in state.stale if task.state != "running"])
        make_way(self.place, state.to_run)
        for index, cell in enumerate(state.to_run):
            self.queue.put(cell)
            if index == 0:
                self.queue.start(1)

    def _look(self, phase: _Phase, board: Board) -> None:
        tasks = [task for task in self.queue.tasks() if task.name in phase.pending]
        lost = self.queue.lost(tasks)
        for task in lost:
            self._recover(phase, board, task)
        running = [task.name for task in tasks if task.state == "running" and task not in lost]
        queued = sum(task.state == "queued" for task in tasks)
        for name in running:
            phase.started.setdefault(name, time.monotonic())
        board.see(running, queued)
        for task in tasks:
            if task.state == "ended":
                self._settle(phase, board, task)
        present = {task.name for task in tasks}
        for name in [*phase.pending]:
            phase.absent[name] = 0 if name in present else phase.absent[name] + 1
            if phase.absent[name] >= _ABSENT:
                self._fail(phase, board, name, "it was taken out of DVC's queue")
        if queued:
            phase.single = phase.single and not self._shared_is_made(phase)
            self.queue.start(1 if phase.single else min(self.jobs, queued + len(running)))

    def _shared_is_made(self, phase: _Phase) -> bool:
        # A run in MLflow means that a training has begun, and so that the stages before it have ended.
        done = len(phase.pending) < len(phase.started) or bool(phase.failed)
        return done or bool(self.place.log.runs(phase.started))

    def _settle(self, phase: _Phase, board: Board, task: Task) -> None:
        cell = phase.pending[task.name]
        run = run_of(self.place, cell)
        if run is None:
            reason = self.queue.log(task)
            self.queue.remove([task])
            self._fail(phase, board, cell.name, reason)
            return
        if run.divergence:
            board.note(f"diverged {cell.name}: {run.divergence}")
        seconds = time.monotonic() - phase.started.get(cell.name, time.monotonic())
        enter(self.place, cell, run, seconds)
        self.queue.remove([task])
        del phase.pending[cell.name]
        board.finish(cell.name, seconds)

    def _recover(self, phase: _Phase, board: Board, task: Task) -> None:
        self.queue.clear(task)
        phase.lost[task.name] += 1
        phase.started.pop(task.name, None)
        if phase.lost[task.name] >= _TRIES:
            self._fail(phase, board, task.name, f"its worker was killed {_TRIES} times")
            return
        board.note(f"lost   {task.name}: its worker was killed; it is queued again")
        self.queue.put(phase.pending[task.name])

    def _fail(self, phase: _Phase, board: Board, name: str, reason: str) -> None:
        phase.failed[name] = reason
        del phase.pending[name]
        board.fail(name, reason)

    def _halt(self, phase: _Phase, board: Board) -> None:
        tasks = [task for task in self.queue.tasks() if task.name in phase.pending]
        self.queue.remove([task for task in tasks if task.state == "queued"])
        running = [task for task in tasks if task.state == "running"]
        board.note(
            f"stopping: {len(running)} running cells save their state; run the same command again to go on"
        )
        self.queue.interrupt(running)


def open_board(stream: TextIO, cells: Sequence[Cell], state: Survey, jobs: int) -> Board:
    """Return the board of a phase, its first line said."""
    known = known_seconds(state.done.values())
    board = Board(stream, len(cells), len(state.done), jobs, sum(known) / len(known) if known else None)
    board.note(
        f"{cells[0].phase}: {len(cells)} cells, {len(state.done)} done, {len(state.waiting)} in DVC's queue, "
        f"{len(state.to_run)} to run, {jobs} at a time"
    )
    return board


def check_failed(failed: Mapping[str, str], total: int) -> None:
    """Raise `StudyError` where cells, by name with the reason, failed."""
    if failed:
        name, reason = next(iter(failed.items()))
        raise StudyError(
            f"{len(failed)} of {total} cells failed, {name} first: {reason}; run the same command to try the "
            "failed ones again"
        )
