import datetime
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from candlecast.data.config import DataConfig, SyntheticConfig


@pytest.fixture
def data_config() -> Callable[..., DataConfig]:
    """Build a `DataConfig` that differs from the bundled sample's in the named keys."""

    def build(**changes: Any) -> DataConfig:
        usual = DataConfig(
            source="sample",
            tickers=("AAPL", "FB", "GOOG", "IBM", "MSFT"),
            start=datetime.date(2000, 3, 1),
            end=datetime.date(2013, 3, 1),
            path=None,
            min_bars=600,
            max_gap=5,
            synthetic=SyntheticConfig(tickers=3, bars=700, signal=0.0, seed=1),
        )
        return replace(usual, **changes)

    return build
