import shutil
import sqlite3
from pathlib import Path

import pytest
from forecasting.made import Made, make_forecaster

from candlecast.tracking.backend import connect
from candlecast.tracking.store import Store, tracking_store


@pytest.fixture(scope="session")
def migrated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store's database with every table and the experiment: migrating a fresh one takes seconds."""
    root = tmp_path_factory.mktemp("migrated")
    connect(tracking_store({}, root))
    return root / "mlflow.db"


@pytest.fixture
def store(migrated: Path, tmp_path: Path) -> Store:
    """A store of this test alone."""
    shutil.copy(migrated, tmp_path / "mlflow.db")
    store = tracking_store({}, tmp_path)
    with sqlite3.connect(tmp_path / "mlflow.db") as connection:
        connection.execute(
            "update experiments set artifact_location = replace(artifact_location, ?, ?)",
            (migrated.parent.as_uri(), tmp_path.as_uri()),
        )
    connection.close()
    return store


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    """A forecaster with random weights."""
    return make_forecaster(tmp_path_factory.mktemp("made"))
