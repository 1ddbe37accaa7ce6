from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from data.fake_yahoo import walk, weekdays

from candlecast.cli import main
from candlecast.data.config import DataConfig
from candlecast.data.revision import compare, compare_bars
from candlecast.data.snapshot import take_snapshot
from candlecast.data.source import RAW_BARS

BARS = pl.DataFrame(walk(weekdays("2020-01-01", 40)).rows, schema=RAW_BARS, orient="row")


def test_the_same_bars_are_no_revision_nor_are_later_ones() -> None:
    assert compare("AAA", BARS, BARS) is None
    assert compare("AAA", BARS.head(20), BARS) is None


def test_rows_added_removed_and_changed_are_counted_with_their_span() -> None:
    new = pl.concat([BARS[:5], BARS[6:]]).with_columns(
        pl.when(pl.col("date") == BARS["date"][10]).then(pl.col("low") * 0.9).otherwise("low").alias("low")
    )
    old = pl.concat([BARS[:20], BARS[21:]])
    revision = compare("AAA", old, new)
    assert revision is not None
    assert (revision.rows_added, revision.rows_removed, revision.rows_changed) == (1, 1, 1)
    assert (revision.first, revision.last) == (str(BARS["date"][5]), str(BARS["date"][20]))
    assert revision.largest_change == pytest.approx(0.1)


@pytest.mark.parametrize("split", [2.0, 3.0, 1.5, 0.1, 100.0])
def test_a_common_ratio_near_a_splits_is_suspected_to_be_one(split: float) -> None:
    new = BARS.with_columns(pl.col("open", "high", "low", "close", "adjusted_close") / split)
    revision = compare("AAA", BARS, new)
    assert revision is not None
    assert revision.suspected_split == pytest.approx(split)


def test_ratios_that_differ_are_no_split() -> None:
    factor = pl.int_range(pl.len()) % 3 + 1
    revision = compare("AAA", BARS, BARS.with_columns(pl.col("close") / factor))
    assert revision is not None
    assert revision.suspected_split is None


def test_a_price_that_came_or_went_is_a_change_and_one_missing_twice_is_none() -> None:
    gone = BARS.with_columns(
        pl.when(pl.col("date") == BARS["date"][3]).then(None).otherwise("open").alias("open")
    )
    assert compare("AAA", gone, gone) is None
    for old, new in ((gone, BARS), (BARS, gone)):
        revision = compare("AAA", old, new)
        assert revision is not None
        assert revision.rows_changed == 1


def test_two_snapshots_are_compared_ticker_by_ticker(data_config: Callable[..., DataConfig]) -> None:
    old = take_snapshot(data_config(source="synthetic")).bars
    new = old.with_columns(
        pl.when(pl.col("ticker") == "SYN001").then(pl.col("close") / 2).otherwise("close").alias("close")
    )
    (revision,) = compare_bars(old, new)
    assert (revision.ticker, revision.rows_changed, revision.suspected_split) == ("SYN001", 700, 2.0)


def test_the_command_reports_a_revision_in_a_line(
    data_config: Callable[..., DataConfig], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    old = take_snapshot(data_config(source="synthetic")).bars
    new = old.with_columns(
        pl.when(pl.col("ticker") == "SYN002").then(pl.col("low") / 2).otherwise("low").alias("low")
    )
    paths = [tmp_path / "old.parquet", tmp_path / "new.parquet"]
    for frame, path in zip((old, new), paths, strict=True):
        frame.write_parquet(path)
    main(["diff-bars", *map(str, paths)])
    assert "SYN002: the vendor revised 700 bars" in capsys.readouterr().out
    main(["diff-bars", str(paths[0]), str(paths[0])])
    assert "no bar that both hold differs" in capsys.readouterr().out
