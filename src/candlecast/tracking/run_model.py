"""From a run to its model. Apart from `lookup`, since the model's code brings torch with it."""

from pathlib import Path

import mlflow.artifacts
from mlflow.entities import LoggedModel

from candlecast.errors import TrackingError
from candlecast.tracking.backend import answering
from candlecast.tracking.lookup import Found
from candlecast.tracking.model_log import models_of
from candlecast.tracking.served_model import ARTIFACT


def model_of(found: Found) -> LoggedModel:
    """Return the model of a run, or of the run that trained where this one stands for it.

    Raises
    ------
    TrackingError
        There is none.
    """
    with answering(found.store):
        for run_id in dict.fromkeys([found.run.info.run_id, found.trained_by]):
            models = models_of(found.client, found.experiment, run_id)
            if models:
                return models[0]
    raise TrackingError(
        f"run {found.run.info.run_id} ({found.run.info.run_name}) holds no model, as none was evaluated "
        f"in it; run: dvc repro evaluate"
    )


def fetch_forecaster(found: Found, folder: Path) -> Path:
    """Copy the forecaster of a run's model below `folder`, and return where it lies."""
    model = model_of(found)
    with answering(found.store):
        return Path(
            mlflow.artifacts.download_artifacts(
                artifact_uri=f"{model.artifact_location}/artifacts/{ARTIFACT}",
                dst_path=str(folder),
                tracking_uri=found.store.uri,
            )
        )
