import errno
import stat
from pathlib import Path

import pytest

from candlecast.files import replacing, replacing_folder, write_text


def test_a_file_is_written_with_the_usual_permissions(tmp_path: Path) -> None:
    path = tmp_path / "new" / "report.txt"
    write_text(path, "whole")
    assert path.read_text() == "whole"
    plain = tmp_path / "plain"
    plain.touch()
    assert stat.S_IMODE(path.stat().st_mode) == stat.S_IMODE(plain.stat().st_mode)


@pytest.mark.parametrize(
    "failure", [ValueError("in the middle"), OSError(errno.ENOSPC, "no space"), KeyboardInterrupt()]
)
def test_a_failure_leaves_what_stood_there_and_no_temporary_file(
    tmp_path: Path, failure: BaseException
) -> None:
    path = tmp_path / "report.txt"
    write_text(path, "before")

    def write_half(temporary: Path) -> None:
        temporary.write_text("half")
        raise failure

    with pytest.raises(type(failure)), replacing(path) as temporary:
        write_half(temporary)
    assert path.read_text() == "before"
    assert list(tmp_path.iterdir()) == [path]


def test_a_folder_takes_the_place_of_the_former_one(tmp_path: Path) -> None:
    folder = tmp_path / "out"
    for name in ("first", "second"):
        with replacing_folder(folder) as temporary:
            (temporary / name).write_text(name)

    assert [path.name for path in folder.iterdir()] == ["second"]
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_a_folder_that_fails_halfway_leaves_the_former_one(tmp_path: Path) -> None:
    folder = tmp_path / "out"
    folder.mkdir()
    (folder / "kept").write_text("kept")

    def write_half(temporary: Path) -> None:
        (temporary / "kept").write_text("changed")
        raise RuntimeError("halfway")

    with pytest.raises(RuntimeError, match="halfway"), replacing_folder(folder) as temporary:
        write_half(temporary)

    assert (folder / "kept").read_text() == "kept"
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
