import signal
import sys
from collections.abc import Iterator

import pytest

_IMPORT_PATH = tuple(sys.path)


def pytest_configure() -> None:
    # A shell that starts the tests in the background makes every child ignore Ctrl-C, and some tests send it.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def import_path() -> Iterator[None]:
    """Take out what a test added to the import path.

    MLflow puts a loaded model's own modules first, a part of this package, where a later test's child process
    would find them in the place of the whole.
    """
    yield
    sys.path[:] = _IMPORT_PATH
