from pathlib import Path

import mlflow.pyfunc
import pandas as pd
import pytest
from forecasting.made import Made
from forecasting.made_bars import as_table
from mlflow import MlflowClient
from tracking.promotable import champion, trained

from candlecast.errors import TrackingError
from candlecast.forecasting.forecaster import Forecaster
from candlecast.tracking.backend import connect
from candlecast.tracking.lookup import find_run
from candlecast.tracking.registry import promote
from candlecast.tracking.run_model import fetch_forecaster, model_of
from candlecast.tracking.store import Store


def test_a_model_without_skill_is_refused_with_the_evidence(store: Store, made: Made, tmp_path: Path) -> None:
    run_id = trained(store, made, tmp_path, ())
    with pytest.raises(TrackingError) as caught:
        promote(find_run(store, run_id))
    said = str(caught.value)
    assert f"run {run_id} is not promoted: No skill beyond the baselines" in said
    assert "directional accuracy 0.5410, +0.0000 from that of the training mean (-0.0100 to +0.0200)" in said
    assert MlflowClient(tracking_uri=store.uri).search_registered_models() == []


def test_a_model_with_skill_becomes_the_champion_and_a_later_one_takes_its_place(
    store: Store, made: Made, tmp_path: Path
) -> None:
    first = trained(store, made, tmp_path / "a", ("direction",), dvc__experiment="better")
    promoted = promote(find_run(store, "better"))
    assert (promoted.version, promoted.uri) == ("1", "models:/candlecast@champion")
    assert champion(store) == first
    assert promote(find_run(store, first)).version == "1"
    second = trained(store, made, tmp_path / "b", ("size of the return",))
    assert promote(find_run(store, second)).version == "2"
    assert champion(store) == second


def test_the_champion_is_the_model_that_was_logged(
    store: Store, made: Made, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    uri = promote(find_run(store, trained(store, made, tmp_path, ("direction",)))).uri
    monkeypatch.setenv("MLFLOW_TRACKING_URI", store.uri)
    model = mlflow.pyfunc.load_model(uri)
    latest = model.predict(pd.DataFrame(as_table(made.bars)).astype({"date": str}))
    assert (
        latest["forecast_return"].tolist() == made.forecaster.latest(made.bars)["forecast_return"].to_list()
    )


def test_a_run_without_a_model_says_what_to_do(store: Store) -> None:
    client, place = connect(store)
    run_id = client.create_run(place).info.run_id
    with pytest.raises(TrackingError, match=rf"run {run_id} .* holds no model.*dvc repro evaluate"):
        promote(find_run(store, run_id))


def test_a_run_that_stands_for_a_restored_training_has_that_training_s_model(
    store: Store, made: Made, tmp_path: Path
) -> None:
    source = trained(store, made, tmp_path, ())
    client, place = connect(store)
    tags = {"dvc.experiment": "again", "restored.from": source}
    client.create_run(place, tags=tags)
    found = find_run(store, "again")
    assert model_of(found).source_run_id == source
    folder = fetch_forecaster(found, tmp_path / "fetched")
    assert Forecaster.load(folder).card.run_id == made.forecaster.card.run_id
