import pytest
from forecasting.made import Made, make_forecaster


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    return make_forecaster(tmp_path_factory.mktemp("made"))
