from pathlib import Path

import pytest
from forecasting.made import Made, make_forecaster
from tracking.migrated import migrate, migrated_store

from candlecast.tracking.store import Store


@pytest.fixture(scope="session")
def migrated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store's database with every table and the experiment."""
    return migrate(tmp_path_factory.mktemp("migrated"))


@pytest.fixture
def store(migrated: Path, tmp_path: Path) -> Store:
    """A store of this test alone."""
    return migrated_store(migrated, tmp_path)


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    """A forecaster with random weights."""
    return make_forecaster(tmp_path_factory.mktemp("made"))
