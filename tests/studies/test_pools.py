import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from experiments.services import ray_cluster

from candlecast.errors import StudyError
from candlecast.studies.pools import Ended, Pool, RayPool, Run, SlurmPool
from candlecast.studies.remote_cell import Order

pytestmark = pytest.mark.slow


def order(name: str, folder: Path) -> Order:
    return Order(name, "url", "revision", (), (), {"folder": str(folder)})


def some_work() -> Run:
    """Return what a machine does with an order, told by its name; made here, so that it travels by value."""

    def work(order: Order) -> None:
        from candlecast.errors import StudyError

        tries = Path(order.variables["folder"]) / order.name
        before = len(tries.read_text()) if tries.exists() else 0
        tries.write_text("x" * (before + 1))
        if order.name == "fails":
            raise StudyError("dvc exp run: no disk")
        if order.name == "always-killed" or (order.name == "killed-once" and before == 0):
            os.kill(os.getpid(), signal.SIGKILL)

    return work


def carry_out(pool: Pool, *orders: Order) -> dict[str, str | None]:
    for each in orders:
        pool.submit(each)
    found: list[Ended] = []
    end = time.monotonic() + 240
    while len(found) < len(orders):
        assert time.monotonic() < end, found
        found += pool.ended(1.0)
    return {each.name: each.reason for each in found}


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with ray_cluster() as address:
        yield address


def test_a_ray_task_ends_or_says_why_not_and_is_run_again_when_its_worker_is_killed(
    address: str, tmp_path: Path
) -> None:
    pool = RayPool(address, 1, some_work())
    try:
        ended = carry_out(pool, *(order(name, tmp_path) for name in ("works", "fails", "killed-once")))
    finally:
        pool.close()
    assert ended == {"works": None, "fails": "dvc exp run: no disk", "killed-once": None}
    assert (tmp_path / "killed-once").read_text() == "xx"
    assert (tmp_path / "fails").read_text() == "x"


def test_without_a_cluster_the_error_names_the_address() -> None:
    with pytest.raises(StudyError, match=r"--address 127\.0\.0\.1:1: no Ray cluster answers there"):
        RayPool("127.0.0.1:1", 1)


def test_a_slurm_job_ends_or_says_why_not_and_is_given_out_again_when_it_is_killed(tmp_path: Path) -> None:
    pool = SlurmPool(tmp_path / "jobs", 1, {}, cluster="local", run=some_work())
    names = ("works", "fails", "killed-once", "always-killed")
    ended = carry_out(pool, *(order(name, tmp_path) for name in names))
    pool.close()
    assert ended == {
        "works": None,
        "fails": "dvc exp run: no disk",
        "killed-once": None,
        "always-killed": "its machine was lost 3 times",
    }
    assert (tmp_path / "killed-once").read_text() == "xx"
    assert (tmp_path / "always-killed").read_text() == "xxx"


def test_where_there_is_no_slurm_the_error_says_so(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match="--executor slurm: "):
        SlurmPool(tmp_path, 1, {})
