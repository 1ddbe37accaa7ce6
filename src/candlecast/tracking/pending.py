"""Points that a store which stayed away did not take, kept in the repository until it answers."""

import json
import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from mlflow import MlflowClient
from mlflow.entities import Metric

from candlecast.files import write_text
from candlecast.tracking.buffer import AWAY, MAX_POINTS
from candlecast.tracking.identity import first_line

FOLDER = Path(".cache") / "mlflow-pending"  # below the repository's root

logger = logging.getLogger(__name__)


def keep_for_later(root: Path, run_id: str, status: str, points: Sequence[Metric]) -> Path:
    """Write a run's last status and the points it lacks, for `deliver`; return the file."""
    path = root / FOLDER / f"{run_id}.json"
    rows = [[point.key, point.value, point.timestamp, point.step] for point in points]
    write_text(path, json.dumps({"run_id": run_id, "status": status, "points": rows}))
    return path


def deliver(client: MlflowClient, root: Path) -> int:
    """Send what earlier runs kept, and return how many points were sent.

    A file is claimed by renaming it, so that two trainings starting at once do not send it twice, and
    removed once its points are in the store.
    """
    sent = 0
    for path in sorted((root / FOLDER).glob("*.json")):
        claimed = path.with_suffix(".sending")
        try:
            path.rename(claimed)
        except FileNotFoundError:  # another process was faster
            continue
        except OSError as error:
            logger.warning("%s cannot be sent: %s; make its folder writable", path, error.strerror)
            continue
        try:
            sent += _send(client, json.loads(claimed.read_text(encoding="utf-8")))
            claimed.unlink()
        except AWAY as error:
            claimed.rename(path)
            logger.warning("%s waits for another try: %s", path, first_line(error))
    return sent


def _send(client: MlflowClient, kept: dict[str, Any]) -> int:
    run_id, status = kept["run_id"], kept["status"]
    points = [Metric(*row) for row in kept["points"]]
    for start in range(0, len(points), MAX_POINTS):
        client.log_batch(run_id, metrics=points[start : start + MAX_POINTS])
    client.set_terminated(run_id, status)
    return len(points)
