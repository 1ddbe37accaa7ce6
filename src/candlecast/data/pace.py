"""Space requests evenly, over all processes that share a file."""

import fcntl
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold a file's lock, waiting for whoever has it; the system frees it when its holder dies."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


class Pace:
    """Lets at most so many requests a minute through, evenly spaced rather than in bursts."""

    def __init__(
        self,
        requests_per_minute: float,
        shared: Path | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._interval = 60 / requests_per_minute
        self._shared = shared
        self._sleep = sleep
        self._last = 0.0

    def wait(self) -> None:
        """Sleep until the next request may go out.

        With a shared file, its time of change is the last request of any process.
        """
        if self._shared is None:
            self._last = self._after(self._last)
            return
        with locked(self._shared):
            now = self._after(self._shared.stat().st_mtime if self._shared.stat().st_size else 0.0)
            self._shared.write_text("the time of this file's last change is that of the last request\n")
            os.utime(self._shared, (now, now))

    def _after(self, last: float) -> float:
        pause = min(last + self._interval - time.time(), self._interval)  # a clock set back must not stall
        if pause > 0:
            self._sleep(pause)
        return time.time()
