"""What DVC refuses for a moment is done in the next."""

import json
from pathlib import Path

import pytest
from dvc.lock import LockError

from candlecast.studies.dvc_queue import Task
from candlecast.studies.dvc_waits import once_written, while_busy


def test_what_is_locked_is_tried_until_the_lock_is_free() -> None:
    waits: list[float] = []

    def queue_up() -> None:
        if len(waits) < 3:
            raise LockError("refs/exps/celery/stash is busy")

    while_busy(queue_up, waits.append)
    assert len(waits) == 3


def test_a_lock_that_is_never_let_go_is_reported() -> None:
    waits: list[float] = []

    def never() -> None:
        raise LockError("refs/exps/celery/stash is busy")

    with pytest.raises(LockError, match="busy"):
        while_busy(never, waits.append)
    assert 30 <= sum(waits) <= 120


def test_a_file_that_a_worker_is_writing_is_read_again_until_it_is_whole(tmp_path: Path) -> None:
    message = tmp_path / "message.json"
    message.touch()

    def read() -> list[Task]:
        return [Task(**json.loads(message.read_text()))]

    def written_after(_: float) -> None:
        message.write_text('{"name": "cell", "state": "queued", "revision": "1a"}')

    assert once_written(read, written_after) == [Task("cell", "queued", "1a")]


def test_a_file_that_stays_half_written_is_reported(tmp_path: Path) -> None:
    waits: list[float] = []
    message = tmp_path / "message.json"
    message.write_text('{"name": ')
    with pytest.raises(json.JSONDecodeError):
        once_written(lambda: json.loads(message.read_text()), waits.append)
    assert 1 <= sum(waits) <= 30
