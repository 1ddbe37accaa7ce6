"""The catalogue: 32 records that say all there is to know of an indicator."""

from collections import Counter

import pytest

from candlecast.features.catalogue import INDICATORS, select
from candlecast.features.indicator import Indicator

WHO_AND_WHEN = {"ticker", "date", "segment"}  # `history` is there for grouping only

each_indicator = pytest.mark.parametrize("indicator", INDICATORS, ids=lambda indicator: indicator.name)


def test_there_are_thirty_two_with_names_of_their_own() -> None:
    assert len(INDICATORS) == 32
    assert len({indicator.name for indicator in INDICATORS}) == 32


def test_each_family_has_eight() -> None:
    assert Counter(indicator.family for indicator in INDICATORS) == {
        "trend": 8,
        "momentum": 8,
        "volatility": 8,
        "volume": 8,
    }


@each_indicator
def test_an_indicator_says_its_unit_formula_and_source(indicator: Indicator) -> None:
    assert indicator.unit
    assert indicator.formula
    assert indicator.source


@each_indicator
def test_an_indicator_reads_neither_who_nor_when(indicator: Indicator) -> None:
    assert not WHO_AND_WHEN & set(indicator.expression.meta.root_names())


def test_the_lengths_in_a_name_bound_the_warm_up() -> None:
    # No window is longer than the bars that the default parameters leave out.
    assert max(indicator.warmup for indicator in INDICATORS) <= 120


def test_a_selection_keeps_the_catalogues_order() -> None:
    chosen = select(("volume", "trend"))
    assert [indicator.family for indicator in chosen] == ["trend"] * 8 + ["volume"] * 8
    assert chosen == (*INDICATORS[:8], *INDICATORS[24:])
