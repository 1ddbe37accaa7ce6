"""DVC's experiment queue on this machine: put cells in, start workers, see what runs, find what was lost.

`dvc queue status` takes seconds of processor time; asking DVC's queue in this process takes a part of one, as
it reads a file an entry, and is done only where something may have changed. A worker
that is killed leaves its task running for ever in DVC's eyes, and what it had started goes on without it.
"""

import contextlib
import hashlib
import io
import logging
import math
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final, Literal

import psutil
from dvc.exceptions import DvcException
from dvc.repo import Repo

from candlecast.errors import StudyError
from candlecast.studies.cells import Cell
from candlecast.studies.dvc_waits import once_written, while_busy

State = Literal["queued", "running", "ended"]

_FOLDERS: Final = ("broker/in", "broker/processed", "result")  # where DVC's queue keeps a file an entry
_FRESH: Final = 10.0  # seconds after which the entries are read again, whatever their folders say
_SCAN: Final = 1.0  # seconds for which a look at all processes of the machine is good
_GRACE: Final = 60.0  # seconds a training may take to save its state before it is killed


@dataclass(frozen=True, slots=True)
class Task:
    """One entry of the queue. A name may occur twice: DVC keeps what has ended until it is removed."""

    name: str
    state: State
    revision: str  # DVC's own name of the entry


@dataclass(frozen=True, slots=True)
class _Read:
    """The entries as they were read, and what their folders said before."""

    when: float
    changed: tuple[int, ...]
    tasks: list[Task]


class Queue:
    """The queue of the repository at `root`."""

    def __init__(self, root: Path, environ: Mapping[str, str]) -> None:
        self.root = root
        self._environ = environ  # of the workers, and so of every cell
        logging.getLogger("kombu").setLevel(logging.ERROR)  # it warns that a file has no host
        self._repo = Repo(str(root))
        self._queue: Any = self._repo.experiments.celery_queue
        self._suspects: set[str] = set()
        self._read = _Read(-math.inf, (), [])
        self._scan: tuple[float, list[psutil.Process]] = (-math.inf, [])

    def put(self, cell: Cell) -> None:
        """Queue a cell as it would run now: the code and the uncommitted changes of this moment."""
        # DVC looks for params.yaml in the current folder.
        with _undisturbed(), contextlib.chdir(self.root), contextlib.redirect_stdout(io.StringIO()):
            try:
                while_busy(
                    lambda: self._repo.experiments.run(
                        targets=[*cell.targets] or None,
                        params=cell.assignments(),
                        queue=True,
                        name=cell.name,
                    )
                )
            except DvcException as error:
                raise StudyError(f"{cell.name}: DVC does not queue it: {error}") from None

    def tasks(self) -> list[Task]:
        """Return every entry of the queue; they are read where their folders have changed since."""
        # Looked at before the entries are, so that what changes meanwhile is read by the next call.
        now, changed = time.monotonic(), self._changed()
        if changed != self._read.changed or now - self._read.when > _FRESH:
            self._read = _Read(now, changed, once_written(self._entries))
        return [*self._read.tasks]

    def _changed(self) -> tuple[int, ...]:
        folders = [Path(self._queue.wdir, name) for name in _FOLDERS]
        return tuple(folder.stat().st_mtime_ns if folder.is_dir() else 0 for folder in folders)

    def _entries(self) -> list[Task]:
        states: list[tuple[State, Any]] = [
            ("queued", self._queue.iter_queued()),
            ("running", self._queue.iter_active()),
            ("ended", (done.entry for done in self._queue.iter_done())),
        ]
        found = {
            entry.stash_rev: Task(entry.name or "", state, entry.stash_rev)
            for state, entries in states
            for entry in entries
        }
        return list(found.values())  # what moved on while it was read counts as it was seen last

    def remove(self, tasks: Sequence[Task]) -> None:
        """Take out entries that wait or have ended."""
        for task in tasks:
            with contextlib.suppress(DvcException):  # a worker was faster
                while_busy(partial(self._queue.remove, [task.revision]))

    def start(self, workers: int) -> None:
        """See to it that so many workers are there."""
        alive = len(self._workers())
        if alive < workers:
            self._dvc("queue", "start", "--jobs", str(workers))
            self._scan = (-math.inf, [])

    def stop(self) -> None:
        """Let the workers end once they have nothing to do."""
        if self._workers():
            self._queue.shutdown()

    def interrupt(self, tasks: Sequence[Task]) -> None:
        """Make running cells save their state and end."""
        processes = [process for task in tasks for process in self._tree(task)]
        for process in processes:
            with contextlib.suppress(psutil.NoSuchProcess):
                process.send_signal(signal.SIGINT)
        _, stubborn = psutil.wait_procs(processes, _GRACE)
        for process in stubborn:
            with contextlib.suppress(psutil.NoSuchProcess):
                process.kill()

    def lost(self, tasks: Sequence[Task]) -> list[Task]:
        """Return the running tasks whose worker is gone; a task is lost when two calls in turn say so."""
        suspects = {task.revision for task in tasks if task.state == "running" and not self._owned(task)}
        confirmed = suspects & self._suspects
        self._suspects = suspects
        return [task for task in tasks if task.revision in confirmed]

    def clear(self, task: Task) -> None:
        """Take a lost task out, and end what its worker had started; a training saves its state first."""
        self.interrupt([task])
        logging.disable(logging.WARNING)  # DVC would warn that the process is gone, which is known
        try:
            while_busy(lambda: self._queue.kill([task.revision], force=True))
        except DvcException as error:
            raise StudyError(
                f"{task.name}: its worker is gone, and DVC does not let go of it ({error}); run: "
                "dvc queue stop --kill"
            ) from None
        finally:
            logging.disable(logging.NOTSET)
        self.remove([task])

    def log(self, task: Task) -> str:
        """Return what a task's stages said last, in a line."""
        info = self._queue.proc.get(task.revision)
        if info is None or info.stdout is None:
            return "it did not start"
        lines = Path(info.stdout).read_text(encoding="utf-8", errors="replace").split("\n")
        said = [line.strip() for line in lines if line.strip()]
        ours = [line for line in said if line.startswith("error: ")]
        python = [line for line in said if re.match(r"(\w+\.)*\w+(Error|Exception|Interrupt)\b", line)]
        return (ours or python or said or ["it said nothing"])[-1]

    def _owned(self, task: Task) -> bool:
        # Between its steps a task has no process: then a worker that has none either may be at it.
        process = self._process(task)
        if process is not None:
            with contextlib.suppress(psutil.NoSuchProcess):
                parent = process.parent()
                return parent is not None and parent in self._workers()
        free = [worker for worker in self._workers() if not worker.children()]
        return bool(free)

    def _process(self, task: Task) -> psutil.Process | None:
        info = self._queue.proc.get(task.revision)
        if info is None or info.returncode is not None:
            return None
        try:
            process = psutil.Process(info.pid)
            # A process id is used again; the command is not.
            return process if task.revision in " ".join(process.cmdline()) else None
        except (psutil.NoSuchProcess, psutil.AccessDenied, psutil.ZombieProcess):
            return None

    def _tree(self, task: Task) -> list[psutil.Process]:
        process = self._process(task)
        if process is None:
            return []
        with contextlib.suppress(psutil.NoSuchProcess):
            return [*process.children(recursive=True), process]
        return []

    def _workers(self) -> list[psutil.Process]:
        when, known = self._scan
        if time.monotonic() - when < _SCAN:
            return [worker for worker in known if worker.is_running()]
        nodes = f"dvc-exp-{hashlib.sha256(self._queue.wdir.encode()).hexdigest()[:6]}-"
        found = []
        for process in psutil.process_iter():
            with contextlib.suppress(psutil.Error):
                command = process.cmdline()
                if "queue-worker" in command and any(word.startswith(nodes) for word in command):
                    found.append(process)
        self._scan = (time.monotonic(), found)
        return found

    def _dvc(self, *arguments: str) -> None:
        dvc = shutil.which("dvc", path=self._environ.get("PATH"))
        if dvc is None:
            raise StudyError("dvc: not on the PATH; activate the environment that candlecast is installed in")
        log = self.root / ".cache" / "studies" / "workers.log"
        log.parent.mkdir(parents=True, exist_ok=True)
        with log.open("ab") as output:  # a pipe would stay open as long as the workers
            done = subprocess.run(  # noqa: S603 - fixed arguments
                [dvc, *arguments],
                cwd=self.root,
                env=dict(self._environ),
                stdout=output,
                stderr=subprocess.STDOUT,
                check=False,
                start_new_session=True,  # Ctrl-C is for this process alone
            )
        if done.returncode:
            raise StudyError(f"dvc {' '.join(arguments)}: failed; see {log}")


@contextlib.contextmanager
def _undisturbed() -> Iterator[None]:
    # DVC sets the working tree aside while it queues; an interruption there would leave it aside.
    signals = {signal.SIGINT, signal.SIGTERM}
    signal.pthread_sigmask(signal.SIG_BLOCK, signals)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, signals)
