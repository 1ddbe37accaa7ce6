import datetime
import os
from pathlib import Path

import polars as pl
import pytest
from data.fake_yahoo import walk, weekdays

from candlecast.data.source import RAW_BARS, Fetched
from candlecast.data.store import BarStore, Stored
from candlecast.data.ticker_names import file_name, ticker_of
from candlecast.errors import DataError

DAY = datetime.date(2020, 1, 2)


def stored() -> Stored:
    bars = pl.DataFrame(walk(weekdays("2020-01-01", 5)).rows, schema=RAW_BARS, orient="row")
    fetched = Fetched(bars=bars, currency="EUR", splits={DAY: 2.0}, provisional=(DAY,), notes=("so",))
    return Stored(fetched=fetched, start=DAY, end=DAY + datetime.timedelta(days=9), asked_on=DAY)


@pytest.mark.parametrize(
    "ticker", ["AAA", "^GSPC", "EURUSD=X", "BRK/B", "../../etc/passwd", "..", ".X", "A B%"]
)
def test_any_ticker_is_kept_inside_the_folder_and_found_again(tmp_path: Path, ticker: str) -> None:
    store = BarStore(tmp_path / "store")
    store.save(ticker, stored())
    found = store.load(ticker)
    assert found is not None
    assert found.fetched.bars.equals(stored().fetched.bars)
    assert (found.fetched.splits, found.fetched.currency, found.end) == (
        {DAY: 2.0},
        "EUR",
        DAY + datetime.timedelta(days=9),
    )
    (file,) = tmp_path.rglob("*.parquet")
    assert file.parent == tmp_path / "store"
    assert ticker_of(file_name(ticker)) == ticker


def test_an_unknown_ticker_is_nothing(tmp_path: Path) -> None:
    assert BarStore(tmp_path).load("AAA") is None


def test_a_dead_processs_temporary_file_is_removed_and_a_live_ones_is_not(tmp_path: Path) -> None:
    dead, live = tmp_path / ".AAA.parquet.x1.parquet", tmp_path / ".AAA.parquet.x2.parquet"
    for file in (dead, live):
        file.touch()
    os.utime(dead, (0, 0))
    BarStore(tmp_path)
    assert (dead.exists(), live.exists()) == (False, True)


@pytest.mark.parametrize("content", [b"", b"PAR1", b"no parquet at all"])
def test_a_damaged_file_is_named_with_what_to_do(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "AAA.parquet").write_bytes(content)
    with pytest.raises(DataError, match=r"AAA\.parquet: cannot be read .*delete it"):
        BarStore(tmp_path).load("AAA")


def test_a_parquet_file_of_someone_elses_is_not_taken_for_ours(tmp_path: Path) -> None:
    stored().fetched.bars.write_parquet(tmp_path / "AAA.parquet")
    with pytest.raises(DataError, match="delete it"):
        BarStore(tmp_path).load("AAA")
