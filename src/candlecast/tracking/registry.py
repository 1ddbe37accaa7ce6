"""The model that is worth using, under one name: only one whose test span says so gets it."""

import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from mlflow.entities import LoggedModel
from mlflow.exceptions import MlflowException

from candlecast.errors import TrackingError
from candlecast.forecasting.card import Card, Measured, Proof
from candlecast.tracking.backend import answering
from candlecast.tracking.lookup import Found
from candlecast.tracking.model_log import NAME
from candlecast.tracking.run_model import fetch_forecaster, model_of

CHAMPION: Final = "champion"


@dataclass(frozen=True, slots=True)
class Promoted:
    """A version of the registered model that carries the alias."""

    version: str
    uri: str  # as `mlflow models serve -m` takes it
    proof: Proof


def promote(found: Found, because: str = "") -> Promoted:
    """Register a run's model and point the alias `champion` at it.

    Parameters
    ----------
    because
        Why this run was put forward, for the version's description.

    Raises
    ------
    TrackingError
        The model's test span shows no skill beyond every baseline, or the run holds no model.
    """
    model = model_of(found)
    with tempfile.TemporaryDirectory() as temporary:
        proof = Card.load(fetch_forecaster(found, Path(temporary))).proof
    if not proof.skills:
        raise TrackingError(
            f"run {found.run.info.run_id} is not promoted: {proof.answer} A champion must be better than "
            f"every baseline beyond luck, as the report's headline counts it{_shown(proof)}"
        )
    with answering(found.store):
        version = _version(found, model)
        found.client.update_model_version(NAME, version, f"{proof.answer} {because}".strip())
        found.client.set_registered_model_alias(NAME, CHAMPION, version)
    return Promoted(version, f"models:/{NAME}@{CHAMPION}", proof)


def _version(found: Found, model: LoggedModel) -> str:
    """Return the version that this model has already, or a new one."""
    try:
        found.client.create_registered_model(NAME, description="Forecasts from daily bars.")
    except MlflowException as error:
        if error.error_code != "RESOURCE_ALREADY_EXISTS":
            raise
    for known in found.client.search_model_versions(f"name = '{NAME}'"):
        if known.source == model.artifact_location:
            return str(known.version)
    made = found.client.create_model_version(
        NAME,
        source=model.artifact_location,
        run_id=found.run.info.run_id,
        model_id=model.model_id,
    )
    return str(made.version)


def _shown(proof: Proof) -> str:
    parts = [f"{_words(score.name)} {score.value:.4f}, {_beside(score)}" for score in proof.scores]
    return f": {'; '.join(parts)}" if parts else ""


def _beside(score: Measured) -> str:
    baseline = _words(score.baseline)
    if score.difference == score.difference_low == score.difference_high == 0:
        return f"exactly that of the {baseline}"
    return (
        f"{score.difference:+.4f} from that of the {baseline} "
        f"({score.difference_low:+.4f} to {score.difference_high:+.4f})"
    )


def _words(key: str) -> str:
    return key.removesuffix("_score").replace("_", " ")
