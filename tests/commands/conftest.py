import pytest
from data.conftest import data_config, fake_yahoo, yahoo
from forecasting.made import Made, make_forecaster

__all__ = ["data_config", "fake_yahoo", "yahoo"]  # fixtures, found here by the tests of this folder


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    return make_forecaster(tmp_path_factory.mktemp("made"))
