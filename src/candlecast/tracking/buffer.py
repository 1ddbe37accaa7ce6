"""Metric points on their way to the store: many in one call, kept while the store is away.

A call costs the same for one point as for a thousand (one synced transaction), so points are collected and
sent when there are many, or when the oldest has waited long enough.
"""

import logging
import time
from collections.abc import Callable, Mapping

from mlflow import MlflowClient
from mlflow.entities import Metric
from mlflow.exceptions import MlflowException
from sqlalchemy.exc import SQLAlchemyError

from candlecast.tracking.identity import first_line

MAX_POINTS = 1000  # what MLflow takes in one call
AWAY = (MlflowException, SQLAlchemyError, OSError)  # what a client raises when its store does not answer

logger = logging.getLogger(__name__)


class MetricBuffer:
    """Collects points of one run and sends them together.

    Parameters
    ----------
    seconds
        How long a point may wait.
    clock
        Monotonic seconds; a test gives its own.
    """

    def __init__(
        self,
        client: MlflowClient,
        run_id: str,
        seconds: float = 5.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.points: list[Metric] = []
        self._client, self._run_id = client, run_id
        self._seconds, self._clock = seconds, clock
        self._next_send = clock() + seconds
        self._away_for = 0.0  # seconds to wait after a failure, doubled each time

    def add(self, values: Mapping[str, float], step: int) -> None:
        """Add one point per metric, all at `step`."""
        now = int(time.time() * 1000)
        self.points += [Metric(name, float(value), now, step) for name, value in values.items()]

    def send_if_due(self) -> None:
        """Send when a full call's worth is waiting, or when the oldest point has waited long enough."""
        due = self._clock() >= self._next_send
        if due or (len(self.points) >= MAX_POINTS and not self._away_for):
            self.send()

    def send(self) -> bool:
        """Send everything; return False, and keep what is left, when the store does not answer."""
        while self.points:
            try:
                self._client.log_batch(self._run_id, metrics=self.points[:MAX_POINTS])
            except AWAY as error:
                self._away_for = min(max(2 * self._away_for, 10.0), 300.0)
                self._next_send = self._clock() + self._away_for
                logger.warning(
                    "the tracking store does not answer (%s); training goes on, %d points wait, "
                    "next try in %.0f s",
                    first_line(error),
                    len(self.points),
                    self._away_for,
                )
                return False
            del self.points[:MAX_POINTS]
        if self._away_for:
            logger.info("the tracking store answers again; no point was lost")
        self._away_for = 0.0
        self._next_send = self._clock() + self._seconds
        return True
