"""What DVC refuses for a moment, as another of its processes is at it: asked again until it is done."""

import json
import time
from collections.abc import Callable
from typing import Final, TypeVar

from dvc.lock import LockError
from kombu.exceptions import DecodeError

_BUSY_TRIES: Final = 120  # at what a worker has locked, half a second apart; it holds its lock for a moment
_READ_TRIES: Final = 50  # at a file that a worker is writing, a tenth of a second apart

T = TypeVar("T")
Sleep = Callable[[float], None]


def while_busy(action: Callable[[], object], sleep: Sleep = time.sleep) -> None:
    """Do what DVC refuses while another of its processes holds a lock, again until the lock is free.

    A worker locks the queue when it takes a task out, so a cell that is queued at that moment is refused.

    Raises
    ------
    LockError
        It is still held after a minute.
    """
    _again(action, (LockError,), _BUSY_TRIES, 0.5, sleep)


def once_written(read: Callable[[], T], sleep: Sleep = time.sleep) -> T:
    """Read DVC's queue again until its files are whole: workers write messages and results in place.

    Raises
    ------
    JSONDecodeError, DecodeError
        A file is not JSON after five seconds.
    """
    return _again(read, (json.JSONDecodeError, DecodeError), _READ_TRIES, 0.1, sleep)


def _again(
    call: Callable[[], T], refusals: tuple[type[Exception], ...], tries: int, pause: float, sleep: Sleep
) -> T:
    for _ in range(tries - 1):
        try:
            return call()
        except refusals:
            sleep(pause)
    return call()
