"""DVC's queue is not read without need."""

import subprocess
from pathlib import Path

import pytest

from candlecast.studies.dvc_queue import Queue, Task


def test_the_entries_are_read_again_once_a_folder_of_the_queue_has_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    subprocess.run(["git", "init", "--quiet"], cwd=tmp_path, check=True)
    (tmp_path / ".dvc").mkdir()
    (tmp_path / ".dvc" / "config").write_text("[core]\n    analytics = false\n")
    queue = Queue(tmp_path, {})
    entries: list[Task] = []
    monkeypatch.setattr(queue, "_entries", lambda: [*entries])
    assert queue.tasks() == []
    entries.append(Task("cell", "queued", "0" * 40))
    assert queue.tasks() == []
    folder = tmp_path / ".dvc" / "tmp" / "exps" / "celery" / "broker" / "in"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "entry").touch()
    assert queue.tasks() == entries
