"""Write a file or folder whole or not at all: to a temporary name beside it, then rename."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield a temporary path beside `path`; on success flush it to disk and rename it into place.

    A crash, an exception or a full disk leaves what stood at `path` before as it was.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=path.suffix)
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        with temporary.open("rb+") as written:
            os.fsync(written.fileno())
        temporary.chmod(0o666 & ~_umask())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def write_text(path: Path, text: str) -> None:
    """Write `text` as UTF-8, whole or not at all."""
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


@contextmanager
def replacing_folder(path: Path) -> Iterator[Path]:
    """Yield a temporary folder beside `path`; on success it takes the place of `path` and all in it.

    An exception leaves what stood at `path` before as it was, and nothing where nothing was.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = Path(tempfile.mkdtemp(dir=path.parent, prefix=f".{path.name}."))
    try:
        written, former = temporary / "new", temporary / "former"
        written.mkdir()
        yield written
        if path.exists():
            path.rename(former)
        try:
            written.rename(path)
        except OSError:
            if former.exists():
                former.rename(path)
            raise
    finally:
        shutil.rmtree(temporary)


def _umask() -> int:
    # Reading the mask means setting it; mkstemp's 0600 would keep other users from reading outputs.
    mask = os.umask(0o022)
    os.umask(mask)
    return mask
