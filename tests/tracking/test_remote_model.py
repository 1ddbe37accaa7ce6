"""A model over HTTP: the server has the database and the artifacts, this machine has neither."""

from collections.abc import Iterator
from pathlib import Path

import mlflow.pyfunc
import pandas as pd
import pytest
from experiments.services import mlflow_server
from forecasting.made import Made
from forecasting.made_bars import as_table
from tracking.promotable import champion, trained

from candlecast.errors import TrackingError
from candlecast.forecasting.forecaster import Forecaster
from candlecast.tracking.lookup import find_run
from candlecast.tracking.registry import promote
from candlecast.tracking.run_model import fetch_forecaster
from candlecast.tracking.store import Store, tracking_store

pytestmark = pytest.mark.slow


@pytest.fixture
def remote(migrated: Path, tmp_path: Path) -> Iterator[Store]:
    """A store that a server keeps in sqlite and hands out with its artifacts."""
    with mlflow_server(f"sqlite:///{migrated}", tmp_path) as address:
        yield tracking_store({"MLFLOW_TRACKING_URI": address}, tmp_path)


def test_a_model_is_logged_to_a_server_promoted_there_and_loaded_from_it(
    remote: Store, made: Made, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    unproven = trained(remote, made, tmp_path / "unproven", ())
    with pytest.raises(TrackingError, match=f"run {unproven} is not promoted"):
        promote(find_run(remote, unproven))
    run_id = trained(remote, made, tmp_path / "proven", ("direction",), dvc__experiment="proven")
    uri = promote(find_run(remote, "proven")).uri
    assert champion(remote) == run_id

    expected = made.forecaster.latest(made.bars)["forecast_return"].to_list()
    (tmp_path / "fetched").mkdir()
    fetched = Forecaster.load(fetch_forecaster(find_run(remote, run_id), tmp_path / "fetched"))
    assert fetched.latest(made.bars)["forecast_return"].to_list() == expected
    monkeypatch.setenv("MLFLOW_TRACKING_URI", remote.uri)
    served = mlflow.pyfunc.load_model(uri)
    table = pd.DataFrame(as_table(made.bars)).astype({"date": str})
    assert served.predict(table)["forecast_return"].tolist() == expected
    # Nothing was put beside the client as if the store were here.
    assert not list(tmp_path.rglob("mlartifacts"))
