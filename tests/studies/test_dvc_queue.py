"""What DVC refuses for a moment is done in the next."""

import pytest
from dvc.lock import LockError

from candlecast.studies.dvc_queue import while_busy


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
