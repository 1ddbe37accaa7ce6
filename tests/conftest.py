import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from experiments.clones import make_finished
from filelock import FileLock

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


@pytest.fixture(scope="session")
def finished_repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository whose pipeline has run on small parameters: to be read, and copied by who writes.

    Its store lies beside it. The processes that share the tests make it once between them.
    """
    if "PYTEST_XDIST_WORKER" not in os.environ:
        return make_finished(tmp_path_factory.mktemp("finished") / "repository")
    shared = tmp_path_factory.getbasetemp().parent / "finished"
    with FileLock(f"{shared}.lock"):
        done = shared / "done"
        if not done.exists():
            make_finished(shared / "repository")
            done.touch()
    return shared / "repository"


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, which commands take for a repository whose store lies in it."""
    (tmp_path / "dvc.yaml").touch()
    monkeypatch.chdir(tmp_path)
    for name in ("MLFLOW_TRACKING_URI", "DVC_ROOT"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path
