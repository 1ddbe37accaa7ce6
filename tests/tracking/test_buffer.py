import itertools
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from unittest.mock import create_autospec

import pytest
from mlflow import MlflowClient
from mlflow.entities import Metric
from mlflow.exceptions import MlflowException
from sqlalchemy import event
from sqlalchemy.pool import Pool

from candlecast.tracking.backend import connect
from candlecast.tracking.buffer import MAX_POINTS, MetricBuffer
from candlecast.tracking.pending import FOLDER, deliver, keep_for_later
from candlecast.tracking.store import Store


class Outage:
    """A client whose store is away until it is told otherwise, and what arrived there."""

    def __init__(self) -> None:
        self.away = True
        self.arrived: list[Metric] = []
        self.calls = 0
        self.client = create_autospec(MlflowClient, instance=True)
        self.client.log_batch.side_effect = self._log

    def _log(self, run_id: str, metrics: list[Metric]) -> None:
        self.calls += 1
        if self.away:
            raise MlflowException("http://me:hidden@127.0.0.1 refused")
        self.arrived += metrics


def test_a_store_that_is_away_costs_no_point(caplog: pytest.LogCaptureFixture) -> None:
    now = 0.0
    outage = Outage()
    buffer = MetricBuffer(outage.client, "run", seconds=1.0, clock=lambda: now)
    for step in range(5):
        now += 1.0
        buffer.add({"loss": step}, step)
        buffer.send_if_due()
    assert outage.calls == 1  # it waits before it tries again
    assert "5 points" not in caplog.text
    assert "training goes on" in caplog.text
    assert "hidden" not in caplog.text
    outage.away, now = False, 20.0
    buffer.send_if_due()
    assert [point.step for point in outage.arrived] == [0, 1, 2, 3, 4]
    assert buffer.points == []


def test_the_waits_grow_and_end_at_five_minutes() -> None:
    now = 0.0
    outage = Outage()
    buffer = MetricBuffer(outage.client, "run", seconds=1.0, clock=lambda: now)
    buffer.add({"loss": 1.0}, 1)
    tries = []
    for second in range(1000):
        now = float(second)
        before = outage.calls
        buffer.send_if_due()
        if outage.calls > before:
            tries.append(second)
    assert [later - earlier for earlier, later in itertools.pairwise(tries)][:7] == [
        10, 20, 40, 80, 160, 300, 300,
    ]  # fmt: skip


def test_a_call_carries_no_more_than_mlflow_takes() -> None:
    outage = Outage()
    outage.away = False
    buffer = MetricBuffer(outage.client, "run")
    for step in range(MAX_POINTS + 1):
        buffer.add({"loss": 0.0}, step)
    buffer.send_if_due()
    assert (outage.calls, len(outage.arrived)) == (2, MAX_POINTS + 1)


def test_what_a_store_never_took_is_delivered_later(store: Store) -> None:
    client, experiment = connect(store)
    run_id = client.create_run(experiment).info.run_id
    points = [Metric("train/loss", float("nan") if step == 2 else 1.0 / step, 7, step) for step in (1, 2, 3)]
    kept = keep_for_later(store.root, run_id, "FAILED", points)
    assert kept.parent == store.root / FOLDER
    assert deliver(client, store.root) == 3
    assert [point.step for point in client.get_metric_history(run_id, "train/loss")] == [1, 2, 3]
    assert client.get_run(run_id).info.status == "FAILED"
    assert list(kept.parent.iterdir()) == []
    assert deliver(client, store.root) == 0


def test_a_delivery_that_fails_is_kept(store: Store) -> None:
    outage = Outage()
    kept = keep_for_later(store.root, "run", "KILLED", [Metric("loss", 1.0, 7, 1)])
    assert deliver(outage.client, store.root) == 0
    assert kept.exists()


@contextmanager
def full_disk(database: Path) -> Iterator[Callable[[], None]]:
    """Let a database take no further page, as on a disk without room, until what is yielded frees it."""
    with closing(sqlite3.connect(database)) as connection:
        most = [*connection.execute("pragma page_count").fetchone()]

    def limit(connection: sqlite3.Connection, *_: object) -> None:
        connection.execute(f"pragma max_page_count = {most[0]}")

    event.listen(Pool, "checkout", limit)
    try:
        yield lambda: most.insert(0, 2**30)
    finally:
        event.remove(Pool, "checkout", limit)


def test_a_full_disk_is_a_line_and_costs_no_point(store: Store, caplog: pytest.LogCaptureFixture) -> None:
    client, experiment = connect(store)
    buffer = MetricBuffer(client, client.create_run(experiment).info.run_id)
    for step in range(1000):
        buffer.add({"loss": step}, step)
    assert store.database is not None
    with full_disk(store.database) as free:
        assert not buffer.send()
        free()
        assert buffer.send()
    assert "does not answer ((sqlite3.OperationalError) database or disk is full)" in caplog.text
    assert "Traceback" not in caplog.text
    assert buffer.points == []
