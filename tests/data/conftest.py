from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from candlecast.data.config import DataConfig, SyntheticConfig
from candlecast.params import load_params

PARAMS = Path(__file__).parents[2] / "params.yaml"


@pytest.fixture(scope="session")
def data_config() -> Callable[..., DataConfig]:
    """Build a `DataConfig` that differs from the committed parameters in the named keys.

    A key of a part is written with two underscores: `checks__price_order="flag"`.
    """
    committed = load_params("data", DataConfig, PARAMS)
    small = replace(committed, synthetic=SyntheticConfig(tickers=3, bars=700, signal=0.0, seed=1))

    def build(**changes: Any) -> DataConfig:
        whole: dict[str, Any] = {}
        for key, value in changes.items():
            part, _, name = key.partition("__")
            whole[part] = replace(whole.get(part, getattr(small, part)), **{name: value}) if name else value
        return replace(small, **whole)

    return build
