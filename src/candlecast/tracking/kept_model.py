"""Keep the model that was evaluated in its run. Imports no mlflow by itself, which takes seconds.

Apart from `session`, so that a change in how a model is served makes no training run again.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from candlecast.tracking.evaluation import EvaluationLog

logger = logging.getLogger(__name__)


def keep_model(log: EvaluationLog, folder: Path, example: Mapping[str, Sequence[Any]]) -> None:
    """Store the forecaster in `folder` as the run's model; a store that is away costs a warning.

    Parameters
    ----------
    example
        A table of bars to try it on, as `forecasting.table.example_table` makes it.
    """
    from candlecast.tracking.buffer import AWAY
    from candlecast.tracking.identity import first_line
    from candlecast.tracking.model_log import log_forecaster

    try:
        log_forecaster(log.client, log.run_id, folder, example)
    except AWAY as error:
        logger.warning("the model is not in the tracking store: %s", first_line(error))
