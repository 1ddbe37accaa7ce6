import datetime
import math
from collections.abc import Callable

import polars as pl
import pytest

from candlecast.data.adjust import adjust
from candlecast.data.checks import missing_price, missing_volume
from candlecast.data.config import DataConfig
from candlecast.data.sample import SampleSource


def _returns(bars: pl.DataFrame) -> pl.DataFrame:
    return bars.select("date", (pl.col("close") / pl.col("close").shift()).log().alias("value"))


@pytest.mark.parametrize("day", [datetime.date(2000, 6, 21), datetime.date(2005, 2, 28)])
def test_apples_two_splits_are_no_returns_of_minus_fifty_percent(day: datetime.date) -> None:
    raw = SampleSource().fetch("AAPL", datetime.date(2000, 3, 1), datetime.date(2013, 3, 1)).bars
    before = _returns(raw).row(by_predicate=pl.col("date") == day, named=True)["value"]
    after = _returns(adjust(raw)).row(by_predicate=pl.col("date") == day, named=True)["value"]
    assert before < math.log(0.6)
    assert abs(after) < 0.1


def test_the_real_crash_of_september_2000_stays() -> None:
    raw = SampleSource().fetch("AAPL", datetime.date(2000, 3, 1), datetime.date(2013, 3, 1)).bars
    worst = _returns(adjust(raw)).sort("value", nulls_last=True).row(0, named=True)
    assert worst["date"] == datetime.date(2000, 9, 29)
    assert worst["value"] == pytest.approx(-0.731, abs=0.001)


def test_all_four_prices_and_the_money_traded_keep_their_proportions() -> None:
    raw = pl.DataFrame(
        {
            "date": [datetime.date(2020, 1, 2)],
            "open": [100.0],
            "high": [110.0],
            "low": [90.0],
            "close": [104.0],
            "adjusted_close": [26.0],
            "volume": [1000.0],
        }
    )
    assert adjust(raw).row(0) == (datetime.date(2020, 1, 2), 25.0, 27.5, 22.5, 26.0, 4000.0)


@pytest.mark.parametrize(
    ("close", "adjusted_close", "price", "volume"),
    [
        (1e-300, 1e300, True, False),  # the ratio is infinite
        (1e300, 1e-300, True, True),  # the ratio is zero
        (100.0, 1e-307, False, True),  # only the volume overflows
        (100.0, 25.0, False, False),
    ],
)
def test_a_ratio_that_takes_a_number_out_of_range_is_counted_before_it_does(
    data_config: Callable[..., DataConfig], close: float, adjusted_close: float, price: bool, volume: bool
) -> None:
    names = ("open", "high", "low", "close", "adjusted_close", "volume")
    values = (100.0, 110.0, 90.0, close, adjusted_close, 1000.0)
    raw = pl.DataFrame(
        {"date": [datetime.date(2020, 1, 2)], **{n: [v] for n, v in zip(names, values, strict=True)}}
    )
    limits = data_config().checks
    assert missing_price(raw, limits).to_list() == [price]
    assert missing_volume(raw, limits).to_list() == [volume]
