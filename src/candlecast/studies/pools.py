"""Machines that carry out orders: a Ray cluster, or Slurm through submitit. Neither engine is ours."""

import logging
import socket
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Protocol

from candlecast.errors import StudyError
from candlecast.studies.remote_cell import Order, run_order
from candlecast.tracking.identity import first_line

TRIES: Final = 3  # at a cell whose machine is lost

Run = Callable[[Order], None]


@dataclass(frozen=True, slots=True)
class Ended:
    """An order that came to its end, whichever."""

    name: str
    reason: str | None  # why it failed, where the engine knows


class Pool(Protocol):
    """Takes orders and says which have ended; an order whose machine is lost is given out again."""

    def submit(self, order: Order) -> None:
        """Give an order out."""

    def ended(self, seconds: float) -> list[Ended]:
        """Return the orders that ended, having waited for one up to so many seconds."""

    def close(self) -> None:
        """Call back the orders that have not ended."""


class RayPool:
    """Each order is a task of the Ray cluster at `address`; Ray gives a lost one out again."""

    def __init__(self, address: str, threads: int, run: Run = run_order) -> None:
        try:
            import ray
        except ImportError:
            raise StudyError("--executor ray: Ray is not installed; pip install 'candlecast[ray]'") from None
        self._ray: Any = ray
        try:
            _knock(address)
            ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR)
        except (OSError, RuntimeError, ValueError) as error:
            raise StudyError(
                f"--address {address}: no Ray cluster answers there ({first_line(error)})"
            ) from None
        self._task: Any = ray.remote(num_cpus=threads, max_retries=TRIES)(run)
        self._names: dict[Any, str] = {}

    def submit(self, order: Order) -> None:
        """Give an order out."""
        self._names[self._task.remote(order)] = order.name

    def ended(self, seconds: float) -> list[Ended]:
        """Return the orders that ended."""
        waiting = [*self._names]
        ready, _ = self._ray.wait(waiting, num_returns=len(waiting), timeout=seconds)
        return [Ended(self._names.pop(task), self._reason(task)) for task in ready]

    def close(self) -> None:
        """Cancel what has not ended, and leave the cluster."""
        for task in self._names:
            self._ray.cancel(task, force=True)
        self._ray.shutdown()

    def _reason(self, task: Any) -> str | None:
        try:
            self._ray.get(task)
        except self._ray.exceptions.RayTaskError as error:
            return first_line(error.cause)
        except self._ray.exceptions.RayError as error:
            return first_line(error)
        return None


class SlurmPool:
    """Each order is a Slurm job; one that Slurm killed is given out again.

    With `cluster` local, submitit runs the jobs as processes of this machine.
    """

    def __init__(
        self,
        folder: Path,
        threads: int,
        options: Mapping[str, str],
        cluster: str = "slurm",
        run: Run = run_order,
    ) -> None:
        try:
            import submitit
        except ImportError:
            raise StudyError(
                "--executor slurm: submitit is not installed; pip install 'candlecast[slurm]'"
            ) from None
        try:
            self._executor: Any = submitit.AutoExecutor(folder=folder, cluster=cluster)
        except RuntimeError as error:
            raise StudyError(f"--executor slurm: {error}; run where sbatch is") from None
        self._executor.update_parameters(cpus_per_task=threads, timeout_min=24 * 60)
        if options and cluster == "slurm":
            self._executor.update_parameters(slurm_additional_parameters=dict(options))
        self._run, self._jobs = run, dict[str, tuple[Order, Any, int]]()

    def submit(self, order: Order) -> None:
        """Give an order out."""
        self._give_out(order, 1)

    def ended(self, seconds: float) -> list[Ended]:
        """Return the orders that ended."""
        end = time.monotonic() + seconds
        found: list[Ended] = []
        while not found and time.monotonic() < end:
            time.sleep(min(0.5, seconds))
            for name, (order, job, tries) in [*self._jobs.items()]:
                if job.done():
                    del self._jobs[name]
                    found += self._outcome(order, job, tries)
        return found

    def close(self) -> None:
        """Cancel what has not ended."""
        for _, job, _ in self._jobs.values():
            job.cancel()

    def _give_out(self, order: Order, tries: int) -> None:
        self._jobs[order.name] = (order, self._executor.submit(self._run, order), tries)

    def _outcome(self, order: Order, job: Any, tries: int) -> list[Ended]:
        if not job.paths.result_pickle.exists():  # neither done nor failed: killed
            if tries < TRIES:
                self._give_out(order, tries + 1)
                return []
            return [Ended(order.name, f"its machine was lost {TRIES} times")]
        # What came of it is asked of DVC and MLflow; the file is a pickle, which is never loaded.
        said = [line.strip() for line in (job.stderr() or "").splitlines() if line.strip()]
        errors = [line for line in said if "StudyError: " in line]
        return [Ended(order.name, errors[-1].partition("StudyError: ")[2] if errors else None)]


def _knock(address: str) -> None:
    # Ray itself waits for ten minutes at an address where nothing is.
    host, colon, port = address.removeprefix("ray://").rpartition(":")
    if colon:
        socket.create_connection((host, int(port)), timeout=10).close()
