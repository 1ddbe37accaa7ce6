import datetime
import hashlib
import logging
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from candlecast.data.config import DataConfig
from candlecast.data.snapshot import read_bars, take_snapshot
from candlecast.errors import DataError
from candlecast.schema import BARS

Build = Callable[..., DataConfig]


def test_facebook_is_too_short_and_left_out_with_a_message(
    data_config: Build, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        snapshot = take_snapshot(data_config())
    assert snapshot.bars["ticker"].unique().sort().to_list() == ["AAPL", "GOOG", "IBM", "MSFT"]
    assert snapshot.manifest.left_out == {"FB": "196 sessions, fewer than data.min_bars 600"}
    assert "left out FB: 196 sessions" in caplog.text


def test_the_snapshot_has_the_schema_and_order_and_no_split_shows(data_config: Build) -> None:
    bars = take_snapshot(data_config()).bars
    assert bars.schema == BARS
    assert bars.equals(bars.sort("ticker", "date"))
    moves = bars.select(
        (pl.col("close") / pl.col("close").shift().over("ticker")).log().alias("move"), "date"
    )
    jumps = moves.filter(pl.col("move").abs() > 0.5)
    assert jumps["date"].to_list() == [datetime.date(2000, 9, 29)]  # Apple's profit warning, a real one


def test_the_manifest_counts_what_the_bars_hold(data_config: Build) -> None:
    snapshot = take_snapshot(data_config())
    google = snapshot.manifest.histories["GOOG"]
    assert (google.rows, google.first, google.last, google.segments) == (2148, "2004-08-19", "2013-03-01", 1)
    assert sum(history.rows for history in snapshot.manifest.histories.values()) == snapshot.bars.height


def test_two_runs_leave_the_same_bytes(data_config: Build, tmp_path: Path) -> None:
    for name in ("first", "second"):
        take_snapshot(data_config()).save(tmp_path / name)
    for file in ("bars.parquet", "manifest.json"):
        digests = {
            hashlib.sha256((tmp_path / name / file).read_bytes()).digest() for name in ("first", "second")
        }
        assert len(digests) == 1


def test_bars_read_back_as_they_were(data_config: Build, tmp_path: Path) -> None:
    snapshot = take_snapshot(data_config(source="synthetic"))
    snapshot.save(tmp_path)
    assert read_bars(tmp_path / "bars.parquet").equals(snapshot.bars)


def test_missing_bars_name_the_stage_to_run(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="dvc repro download"):
        read_bars(tmp_path / "bars.parquet")


def test_nothing_left_is_an_error_with_each_reason(data_config: Build) -> None:
    with pytest.raises(DataError, match=r"data\.tickers: no history is left \(FB: 196 sessions"):
        take_snapshot(data_config(tickers=("FB",)))
