import errno
import stat
from pathlib import Path

import pytest

from candlecast.files import replacing, write_text


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
