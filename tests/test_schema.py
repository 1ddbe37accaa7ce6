import datetime
from pathlib import Path

import polars as pl
import pytest

from candlecast.errors import DataError
from candlecast.schema import BARS, FEATURE_KEYS, check, read_frame

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


def test_a_frame_that_cannot_be_read_names_the_file_and_the_remedy(tmp_path: Path) -> None:
    path = tmp_path / "bars.parquet"
    with pytest.raises(DataError, match=r"bars.parquet: no such file; make it with: dvc repro"):
        read_frame(path, BARS)
    path.write_bytes(b"PAR1 cut short")
    with pytest.raises(DataError, match=r"bars.parquet: .*; make it with: dvc repro"):
        read_frame(path, BARS)
    FRAME.write_parquet(path)
    assert read_frame(path, FEATURE_KEYS).equals(check(FRAME, FEATURE_KEYS, "features"))


def test_the_schema_s_columns_can_be_read_alone(tmp_path: Path) -> None:
    path = tmp_path / "features.parquet"
    FRAME.write_parquet(path)
    assert read_frame(path, FEATURE_KEYS, alone=True).columns == list(FEATURE_KEYS)
    FRAME.drop("close").write_parquet(path)
    with pytest.raises(DataError, match=r"features.parquet: .*close.*; make it with: dvc repro"):
        read_frame(path, FEATURE_KEYS, alone=True)
