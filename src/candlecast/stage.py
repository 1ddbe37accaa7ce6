"""How a pipeline script starts and ends: messages on stderr, one-line errors, SIGTERM as an exception."""

import errno
import logging
import signal
import sys
from collections.abc import Callable
from types import FrameType
from typing import Final, NoReturn

from candlecast.errors import CandlecastError

# A disk that is full, read-only or closed to this user is the machine's state, not a fault of the program.
STORAGE: Final = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EPERM)


class Terminated(BaseException):
    """SIGTERM arrived; unwinds the stack so that files, checkpoints and MLflow runs are closed."""


def run_stage(main: Callable[[], None]) -> None:
    """Run `main`; turn an input's fault into one line and exit status 1, SIGTERM into status 143."""
    logging.basicConfig(level=logging.INFO, format="%(message)s", stream=sys.stderr)
    signal.signal(signal.SIGTERM, _terminate)
    try:
        main()
    except CandlecastError as error:
        sys.exit(f"error: {error}")
    except OSError as error:
        if error.errno not in STORAGE:
            raise
        sys.exit(
            f"error: {error.filename or 'output'}: {error.strerror}; what stood there before is untouched"
        )
    except Terminated:
        sys.exit(128 + signal.SIGTERM)
    except KeyboardInterrupt:
        sys.exit(128 + signal.SIGINT)


def _terminate(signum: int, frame: FrameType | None) -> NoReturn:
    raise Terminated
