import datetime

import pytest

from candlecast.data.sample import TICKERS, SampleSource
from candlecast.data.source import RAW_BARS
from candlecast.errors import DataError, NoBarsError
from candlecast.schema import check

FIRST, LAST = datetime.date(2000, 3, 1), datetime.date(2013, 3, 1)


@pytest.mark.parametrize("ticker", TICKERS)
def test_every_bundled_ticker_has_the_schema_and_ascending_dates(ticker: str) -> None:
    bars = check(SampleSource().fetch(ticker, FIRST, LAST).bars, RAW_BARS, ticker)
    assert bars["date"].is_sorted()
    assert bars["date"].is_unique().all()


def test_both_dates_are_inclusive() -> None:
    bars = SampleSource().fetch("IBM", datetime.date(2005, 1, 3), datetime.date(2005, 1, 5)).bars
    assert [str(date) for date in bars["date"]] == ["2005-01-03", "2005-01-04", "2005-01-05"]


def test_an_unknown_ticker_is_named_with_what_there_is() -> None:
    with pytest.raises(DataError, match=r"sample has no NVDA; it has AAPL, FB, GOOG"):
        SampleSource().fetch("NVDA", FIRST, LAST)


def test_dates_without_a_bar_are_told_from_those_there_are() -> None:
    with pytest.raises(
        NoBarsError,
        match=r"^FB: sample has 2012-05-18 to 2013-03-01, nothing from 2000-03-01 to 2005-01-03; "
        r"set data\.start, data\.end and windows\.test_start$",
    ):
        SampleSource().fetch("FB", FIRST, datetime.date(2005, 1, 3))
