from pathlib import Path
from typing import Any

import polars as pl
import pytest
from data.files_by_hand import BARS, read

from candlecast.data.source import RAW_BARS
from candlecast.errors import DataError


def stamps(*texts: str) -> pl.Series:
    return pl.Series(texts).str.to_datetime("%Y-%m-%d %H:%M")


def typed(**columns: Any) -> pl.DataFrame:
    frame = pl.DataFrame(BARS, schema=RAW_BARS, orient="row").drop("adjusted_close")
    return frame.with_columns(**columns)


@pytest.mark.parametrize(
    "dates",
    [
        stamps("2020-01-02 00:00", "2020-01-03 00:00").cast(pl.Datetime("ns")),
        stamps("2020-01-02 05:00", "2020-01-03 05:00")
        .dt.replace_time_zone("UTC")
        .dt.convert_time_zone("America/New_York"),
        pl.Series(["2020-01-02", "2020-01-03"]),
        pl.Series([20200102, 20200103], dtype=pl.Int32),
        pl.Series([1577923200000, 1578009600000]),
    ],
)
def test_dates_of_every_type_are_read(tmp_path: Path, dates: pl.Series) -> None:
    typed(date=dates, volume=pl.col("volume").cast(pl.UInt64)).write_parquet(tmp_path / "AAA.parquet")
    assert read(tmp_path).bars["date"].to_list() == [bar[0] for bar in BARS]


def test_a_zone_says_where_an_instant_is_a_date(tmp_path: Path) -> None:
    instants = stamps("2020-01-01 23:00", "2020-01-02 23:00")
    typed(date=instants.dt.replace_time_zone("UTC")).write_parquet(tmp_path / "AAA.parquet")
    assert str(read(tmp_path).bars["date"][0]) == "2020-01-01"
    assert str(read(tmp_path, timezone="Europe/Berlin").bars["date"][0]) == "2020-01-02"


@pytest.mark.parametrize(
    ("columns", "reason"),
    [
        ({"date": pl.Series([1.5, 2.5])}, "date: Float64 is no date"),
        ({"date": pl.Series([None, None], dtype=pl.Date)}, "date, row 0: there is no date"),
        ({"open": pl.Series([[1.0], [2.0]])}, "open: List"),
        ({"open": pl.Series(["1", "x"])}, "open, row 1: 'x' is no number"),
    ],
)
def test_types_that_are_no_bars_are_refused(tmp_path: Path, columns: dict[str, Any], reason: str) -> None:
    typed(**columns).write_parquet(tmp_path / "AAA.parquet")
    with pytest.raises(DataError) as caught:
        read(tmp_path)
    assert reason in str(caught.value)
