import datetime
import gzip
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from data.fake_yahoo import walk, weekdays
from data.files_by_hand import BARS, END, PLAIN, START, TEXT, read

from candlecast.data.config import DataConfig
from candlecast.data.files import FilesSource
from candlecast.data.snapshot import take_snapshot
from candlecast.data.source import RAW_BARS
from candlecast.errors import DataError, NoBarsError, ParamsError, UnknownTickerError


def test_one_file_a_ticker_in_every_format_gives_the_same_bars(tmp_path: Path) -> None:
    frame = pl.DataFrame(BARS, schema=RAW_BARS, orient="row").rename({"adjusted_close": "Adj Close"})
    (tmp_path / "A.csv").write_text(TEXT)
    (tmp_path / "B.txt").write_text(TEXT.replace(",", "\t"))
    (tmp_path / "C.TSV").write_text(TEXT.replace(",", "|"))
    (tmp_path / "D.csv.gz").write_bytes(gzip.compress(TEXT.encode()))
    for name in ("E.csv.zip", "F.zip"):
        with zipfile.ZipFile(tmp_path / name, "w") as archive:
            archive.writestr("inside.csv", TEXT)
    frame.write_parquet(tmp_path / "G.parquet")
    frame.write_ipc(tmp_path / "H.feather")
    frame.write_ipc(tmp_path / "I.arrow", compression="zstd")
    (tmp_path / "notes.md").write_text("not bars")
    source = FilesSource(tmp_path, PLAIN)
    assert source.tickers() == tuple("ABCDEFGHI")
    for ticker in source.tickers():
        assert source.fetch(ticker, START, END).bars.rows() == BARS, ticker


@pytest.mark.parametrize("kind", ["csv", "parquet", "feather"])
@pytest.mark.parametrize("by_date", [False, True])
def test_one_long_file_holds_many_tickers_in_any_order(tmp_path: Path, kind: str, by_date: bool) -> None:
    one = pl.DataFrame(BARS, schema=RAW_BARS, orient="row")
    long = pl.concat([one.with_columns(pl.lit(name).alias("Symbol")) for name in ("BBB", "^AA")])
    long = long.sort("date") if by_date else long
    path = tmp_path / f"all.{kind}"
    {"csv": long.write_csv, "parquet": long.write_parquet, "feather": long.write_ipc}[kind](path)
    source = FilesSource(path, PLAIN)
    assert source.tickers() == ("BBB", "^AA")
    for ticker in source.tickers():
        assert source.fetch(ticker, START, END).bars.rows() == BARS


def test_a_long_parquet_file_is_read_in_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("candlecast.data.files._ROWS_AT_ONCE", 3)
    one = pl.DataFrame(BARS, schema=RAW_BARS, orient="row")
    names = [f"T{number}" for number in range(5)]
    pl.concat([one.with_columns(pl.lit(name).alias("ticker")) for name in names]).write_parquet(
        tmp_path / "all.parquet"
    )
    source = FilesSource(tmp_path / "all.parquet", PLAIN)
    for ticker in [*names, "T0"]:
        assert source.fetch(ticker, START, END).bars.rows() == BARS


@pytest.mark.parametrize("name", ["AAA.csv", "AAA.parquet"])
def test_a_single_file_without_a_ticker_column_is_its_namesake(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    if name.endswith("csv"):
        path.write_text(TEXT)
    else:
        pl.DataFrame(BARS, schema=RAW_BARS, orient="row").write_parquet(path)
    source = FilesSource(path, PLAIN)
    assert source.tickers() == ("AAA",)
    assert source.fetch("AAA", START, END).bars.height == 2


@pytest.mark.parametrize(
    ("ticker", "name"),
    [
        ("^GSPC", "^GSPC"),
        ("EURUSD=X", "EURUSD=X"),
        ("BRK.B", "BRK.B"),
        ("BF-B", "BF-B"),
        ("BRK/B", "BRK%2FB"),
    ],
)
def test_a_ticker_of_any_shape_has_a_file(tmp_path: Path, ticker: str, name: str) -> None:
    (tmp_path / f"{name}.csv").write_text(TEXT)
    assert read(tmp_path, ticker).bars.height == 2


def test_a_ticker_that_climbs_out_of_the_folder_finds_and_writes_nothing(
    tmp_path: Path, data_config: Callable[..., DataConfig]
) -> None:
    (tmp_path / "secret.csv").write_text(TEXT)
    folder = tmp_path / "bars"
    folder.mkdir()
    (folder / "AAA.csv").write_text(TEXT)
    config = data_config(source="files", path=str(folder), tickers=("../secret",), end=END)
    with pytest.raises(UnknownTickerError, match=r"has no \.\./secret"):
        take_snapshot(config)
    assert sorted(file.name for file in tmp_path.rglob("*.*")) == ["AAA.csv", "secret.csv"]


def test_two_files_for_one_ticker_are_refused_by_name(tmp_path: Path) -> None:
    for name in ("AAA.csv", "AAA.csv.gz"):
        (tmp_path / name).write_text(TEXT)
    with pytest.raises(DataError, match=r"AAA\.csv and AAA\.csv\.gz are both AAA; remove one"):
        read(tmp_path)


def test_a_missing_path_an_empty_folder_and_an_unknown_ticker_are_told_apart(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"data\.path: .*nowhere does not exist"):
        read(tmp_path / "nowhere")
    with pytest.raises(DataError, match=r"data\.path: .* holds no file of a kind we read: \.csv"):
        read(tmp_path)
    (tmp_path / "BBB.csv").write_text(TEXT)
    with pytest.raises(UnknownTickerError, match="has no AAA"):
        read(tmp_path)


def test_a_folder_file_with_many_tickers_asks_for_the_path_to_it(refuses: Callable[..., str]) -> None:
    text = "ticker," + TEXT.replace("\n2020-01-02", "\nAAA,2020-01-02").replace(
        "\n2020-01-03", "\nBBB,2020-01-03"
    )
    assert "holds 2 tickers (AAA, BBB, ...); set data.path to that file" in refuses(text)


def test_damaged_and_crowded_archives_are_refused(tmp_path: Path) -> None:
    (tmp_path / "A.csv.gz").write_bytes(gzip.compress(TEXT.encode())[:-12])
    (tmp_path / "B.csv.gz").write_text(TEXT)
    (tmp_path / "C.zip").write_bytes(b"PK\x03\x04 no more")
    (tmp_path / "D.parquet").write_bytes(b"PAR1 no more PAR1")
    (tmp_path / "E.feather").write_bytes(b"")
    with zipfile.ZipFile(tmp_path / "F.zip", "w") as archive:
        archive.writestr("one.csv", TEXT)
        archive.writestr("two.csv", TEXT)
    for ticker in "ABCDE":
        with pytest.raises(DataError, match=rf"{ticker}\.\w+.*: cannot be read"):
            read(tmp_path, ticker)
    with pytest.raises(DataError, match=r"holds 2 files \(one\.csv, two\.csv\); pack each alone"):
        read(tmp_path, "F")


def test_no_bars_between_the_dates_says_which_there_are_and_what_to_set(
    tmp_path: Path, data_config: Callable[..., DataConfig]
) -> None:
    (tmp_path / "AAA.csv").write_text(TEXT)
    long = "ticker," + TEXT.replace("\n2020", "\nAAA,2020")
    (tmp_path / "bars.csv").write_text(long + long.partition("\n")[2].replace("AAA", "BBB"))
    says = "AAA: {} has 2020-01-02 to 2020-01-03, nothing from 2021-01-01 to 2030-01-01; "
    remedy = "set data.start, data.end and windows.test_start"
    with pytest.raises(NoBarsError) as caught:
        FilesSource(tmp_path, PLAIN).fetch("AAA", datetime.date(2021, 1, 1), END)
    assert str(caught.value) == says.format("AAA.csv") + remedy
    config = data_config(
        source="files", path=str(tmp_path / "bars.csv"), tickers=(), start=datetime.date(2021, 1, 1), end=END
    )
    with pytest.raises(NoBarsError) as caught:
        take_snapshot(config)
    assert str(caught.value) == says.format("bars.csv") + remedy + " (likewise BBB)"


def test_files_become_a_snapshot_with_notes(tmp_path: Path, data_config: Callable[..., DataConfig]) -> None:
    rows = walk(weekdays("2020-01-01", 50)).rows
    for name in ("AAA", "BBB"):
        pl.DataFrame(rows, schema=RAW_BARS, orient="row").drop("adjusted_close").write_csv(
            tmp_path / f"{name}.csv"
        )
    config = data_config(source="files", path=str(tmp_path), tickers=(), min_bars=40, end=END)
    manifest = take_snapshot(config).manifest
    assert list(manifest.histories) == ["AAA", "BBB"]
    assert manifest.histories["AAA"].notes == ("no adjusted close: close taken as it is",)
    assert manifest.retrieved_at is None


def test_params_errors_are_ours_too(refuses: Callable[..., str]) -> None:
    with pytest.raises(ParamsError, match=r"data\.files\.delimiter: must be one character"):
        replace(PLAIN, delimiter="::")
