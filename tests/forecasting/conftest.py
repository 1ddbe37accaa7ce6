import pytest
from forecasting.made import Made, made_checks, make_forecaster

from candlecast.data.config import ChecksConfig


@pytest.fixture(scope="session")
def checks() -> ChecksConfig:
    return made_checks()


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    return make_forecaster(tmp_path_factory.mktemp("made"))
