"""Files of a run."""

import logging
from collections.abc import Iterable
from pathlib import Path

from mlflow import MlflowClient

from candlecast.tracking.buffer import AWAY
from candlecast.tracking.identity import first_line

logger = logging.getLogger(__name__)


def log_files(client: MlflowClient, run_id: str, paths: Iterable[Path]) -> None:
    """Store files and folders under their own names; a store that is away costs a warning, not the result."""
    for path in paths:
        try:
            if path.is_dir():
                client.log_artifacts(run_id, str(path), path.name)
            else:
                client.log_artifact(run_id, str(path))
        except AWAY as error:
            logger.warning("%s is not in the tracking store: %s", path, first_line(error))
