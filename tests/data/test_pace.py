import os
import time
from pathlib import Path

import pytest

from candlecast.data.pace import Pace


def test_requests_are_spaced_evenly_after_the_first() -> None:
    slept: list[float] = []
    pace = Pace(30, sleep=slept.append)
    for _ in range(3):
        pace.wait()
    assert slept == pytest.approx([2.0, 2.0], abs=0.5)


def test_two_processes_with_one_file_share_one_pace(tmp_path: Path) -> None:
    slept: list[float] = []
    first, second = (Pace(30, tmp_path / ".pace", slept.append) for _ in range(2))
    first.wait()
    second.wait()
    assert slept == pytest.approx([2.0], abs=0.5)


def test_a_stamp_from_the_future_stalls_nobody(tmp_path: Path) -> None:
    slept: list[float] = []
    pace = Pace(30, tmp_path / ".pace", slept.append)
    pace.wait()
    os.utime(tmp_path / ".pace", (time.time() + 1e6,) * 2)
    pace.wait()
    assert slept == [2.0]
