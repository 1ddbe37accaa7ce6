"""The 32 indicators, in the order of their columns."""

from collections.abc import Collection
from typing import Final

from candlecast.features.config import Family
from candlecast.features.indicator import Indicator
from candlecast.features.momentum import MOMENTUM
from candlecast.features.trend import TREND
from candlecast.features.volatility import VOLATILITY
from candlecast.features.volume import VOLUME_AND_SHAPE

INDICATORS: Final[tuple[Indicator, ...]] = (*TREND, *MOMENTUM, *VOLATILITY, *VOLUME_AND_SHAPE)


def select(families: Collection[Family]) -> tuple[Indicator, ...]:
    """Return the indicators of the given families, in the catalogue's order whatever theirs."""
    return tuple(indicator for indicator in INDICATORS if indicator.family in families)
