"""The daily losses that other runs of the same test span left in the store."""

import logging
import tempfile
from pathlib import Path
from typing import Final

from mlflow import MlflowClient
from mlflow.entities import Run

from candlecast.tracking.buffer import AWAY
from candlecast.tracking.identity import first_line
from candlecast.tracking.restored import RESTORED

SPAN: Final = "test.sha256"  # a tag: what `evaluation.days.span_digest` says of the windows judged
FILE: Final = "plots/daily_losses.csv"  # an artifact, as `report.plots` writes it
MOST: Final = 60  # runs read, the newest: tests of all pairs grow with the square

logger = logging.getLogger(__name__)


def read_daily_losses(client: MlflowClient, run: Run, span: str) -> dict[str, str]:
    """Return run -> text of its daily losses, for the newest other runs judged on the same span.

    A run that stands for a training restored by DVC is none of its own. What cannot be read is left out
    with a warning.
    """
    found = client.search_runs(
        [run.info.experiment_id], f"tags.`{SPAN}` = '{span}'", max_results=MOST, order_by=["start_time DESC"]
    )
    itself = {run.info.run_id, run.data.tags.get(RESTORED)}
    texts = {}
    with tempfile.TemporaryDirectory() as folder:
        for other in found:
            run_id = other.info.run_id
            if run_id in itself or RESTORED in other.data.tags:
                continue
            try:
                path = client.download_artifacts(run_id, FILE, folder)
                texts[run_id] = Path(path).read_text(encoding="utf-8")
            except (*AWAY, UnicodeDecodeError) as error:
                logger.warning("the daily losses of run %s cannot be read: %s", run_id, first_line(error))
    return texts
