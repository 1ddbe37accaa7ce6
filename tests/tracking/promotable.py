"""Runs with a model whose test span shows what a test says it shows."""

from dataclasses import replace
from pathlib import Path

from forecasting.made import Made
from mlflow import MlflowClient

from candlecast.forecasting.forecaster import save_forecaster
from candlecast.forecasting.table import example_table
from candlecast.tracking.backend import connect
from candlecast.tracking.model_log import NAME, log_forecaster
from candlecast.tracking.store import Store


def trained(store: Store, made: Made, folder: Path, skills: tuple[str, ...], **tags: str) -> str:
    """Leave a run with a model whose test span shows these skills; return its id."""
    client, place = connect(store)
    dotted = {tag.replace("__", "."): value for tag, value in tags.items()}
    run_id = str(client.create_run(place, tags=dotted).info.run_id)
    give_model(client, run_id, made, folder, skills)
    return run_id


def give_model(client: MlflowClient, run_id: str, made: Made, folder: Path, skills: tuple[str, ...]) -> None:
    """Store a model in a run, with a card that says what its test span shows."""
    proof = made.forecaster.card.proof
    answer = f"Better than every baseline here in the {skills[0]}." if skills else proof.answer
    card = replace(made.forecaster.card, proof=replace(proof, skills=skills, answer=answer))
    save_forecaster(folder / "forecaster", made.folder, made.forecaster.standardizer, card)
    example = example_table(made.bars, made.forecaster.bars_needed)
    log_forecaster(client, run_id, folder / "forecaster", example)


def champion(store: Store) -> str:
    """Return the id of the run that made the champion."""
    client = MlflowClient(tracking_uri=store.uri)
    return str(client.get_model_version_by_alias(NAME, "champion").run_id)
