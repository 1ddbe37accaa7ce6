import datetime

import polars as pl
import pytest

from candlecast.errors import DataError
from candlecast.schema import BARS, FEATURE_KEYS, check

ROW = {
    "ticker": ["A"],
    "date": [datetime.date(2020, 1, 2)],
    "segment": [0],
    "close": [1.0],
    "rsi": [0.5],
}
FRAME = pl.DataFrame(ROW, schema_overrides={"segment": pl.Int32, "rsi": pl.Float32})


def test_the_schema_comes_first_and_further_columns_follow() -> None:
    shuffled = FRAME.select("rsi", "close", "segment", "date", "ticker")
    assert check(shuffled, FEATURE_KEYS, "features").columns == ["ticker", "date", "segment", "close", "rsi"]


def test_a_missing_column_is_named() -> None:
    with pytest.raises(DataError, match=r"bars.parquet: column 'open' is missing; it has ticker, date"):
        check(FRAME, BARS, "bars.parquet")


def test_a_wrong_type_is_named() -> None:
    wrong = FRAME.with_columns(pl.col("close").cast(pl.Float32))
    with pytest.raises(DataError, match="features: column 'close' is Float32, expected Float64"):
        check(wrong, FEATURE_KEYS, "features")
