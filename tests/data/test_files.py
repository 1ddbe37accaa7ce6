import datetime
from pathlib import Path

import polars as pl
import pytest

from candlecast.data.files import FilesSource
from candlecast.data.source import RAW_BARS
from candlecast.errors import DataError

START, END = datetime.date(2020, 1, 1), datetime.date(2020, 12, 31)
TEXT = "Date,Open,High,Low,Close,Adj Close,Volume\n2020-01-03,2,4,1,3,1.5,20\n2020-01-02,1,3,1,2,1,10\n"


def test_one_csv_a_ticker_is_read_in_date_order(tmp_path: Path) -> None:
    (tmp_path / "AAA.csv").write_text(TEXT)
    bars = FilesSource(tmp_path).fetch("AAA", START, END).bars
    assert bars.schema == RAW_BARS
    assert bars.row(0) == (datetime.date(2020, 1, 2), 1.0, 3.0, 1.0, 2.0, 1.0, 10.0)


def test_one_long_parquet_holds_many_tickers(tmp_path: Path) -> None:
    (tmp_path / "AAA.csv").write_text(TEXT)
    one = FilesSource(tmp_path).fetch("AAA", START, END).bars
    long = pl.concat([one.with_columns(ticker=pl.lit(name)) for name in ("AAA", "BBB")])
    long.write_parquet(tmp_path / "all.parquet")
    source = FilesSource(tmp_path / "all.parquet")
    assert source.tickers() == ("AAA", "BBB")
    assert source.fetch("BBB", START, END).bars.equals(one)


def test_a_missing_column_is_named_with_what_there_is(tmp_path: Path) -> None:
    (tmp_path / "AAA.csv").write_text("Date,Open\n2020-01-02,1\n")
    with pytest.raises(DataError, match=r"AAA\.csv: no column for high; it has Date, Open"):
        FilesSource(tmp_path).fetch("AAA", START, END)
