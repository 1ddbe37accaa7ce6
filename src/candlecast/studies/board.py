"""What a person sees while a study runs: a table that redraws itself, or a line an event into a file."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final, TextIO

Clock = Callable[[], float]

_UP: Final = "\x1b[{lines}F\x1b[J"  # to the start of the table, and clear what is below
_SHOWN: Final = 8  # running cells in the table


@dataclass(slots=True)
class Board:
    """Counts of one phase, and how long the rest may take."""

    stream: TextIO
    total: int  # cells of the phase
    done: int  # of them before this run
    jobs: int
    cell_seconds: float | None  # of earlier cells; None: not known yet
    clock: Clock = time.monotonic
    failed: int = 0
    queued: int = 0
    _running: dict[str, float] = field(default_factory=dict)  # cell -> when it was first seen
    _seconds: list[float] = field(default_factory=list)
    _lines: int = 0

    def see(self, running: Sequence[str], queued: int) -> None:
        """Take in what runs and what waits."""
        now = self.clock()
        self.queued = queued
        self._running = {name: self._running.get(name, now) for name in running}
        self._draw()

    def finish(self, name: str, seconds: float) -> None:
        """Count a cell that is done."""
        self.done += 1
        self._seconds.append(seconds)
        self._say(f"done   {name}  {span(seconds)}  ({self._counts()}{self._left()})")

    def fail(self, name: str, reason: str) -> None:
        """Count a cell that failed."""
        self.failed += 1
        self._say(f"FAILED {name}: {reason}  ({self._counts()})")

    def note(self, message: str) -> None:
        """Say something that happened."""
        self._say(message)

    def left(self) -> float | None:
        """Return the seconds that the rest may take."""
        known = self._seconds or ([self.cell_seconds] if self.cell_seconds else [])
        if not known:
            return None
        mean = sum(known) / len(known)
        now = self.clock()
        ahead = self.queued * mean + sum(max(mean - (now - start), 0.0) for start in self._running.values())
        return ahead / self.jobs

    def _counts(self) -> str:
        done, running = f"{self.done} of {self.total}", len(self._running)
        return f"{done} done, {running} running, {self.queued} queued, {self.failed} failed"

    def _left(self) -> str:
        left = self.left()
        return f", about {span(left)} left" if left else ""

    def _say(self, line: str) -> None:
        self._erase()
        self.stream.write(f"{line}\n")
        self._draw()
        self.stream.flush()

    def _erase(self) -> None:
        if self._lines:
            self.stream.write(_UP.format(lines=self._lines))
            self._lines = 0

    def _draw(self) -> None:
        if not self.stream.isatty():
            return
        self._erase()
        now = self.clock()
        lines = [f"  {self._counts()}{self._left()}"]
        lines += [
            f"  running  {name}  {span(now - start)}" for name, start in [*self._running.items()][:_SHOWN]
        ]
        self.stream.write("\n".join(lines) + "\n")
        self.stream.flush()
        self._lines = len(lines)


def span(seconds: float) -> str:
    """Return a length of time as a person says it.

    >>> [span(seconds) for seconds in (42, 100, 7260)]
    ['42 s', '1 min 40 s', '2 h 1 min']
    """
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"
