from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from candlecast.data.config import DataConfig
from candlecast.data.manifest import content_hash, read_manifest
from candlecast.data.snapshot import take_snapshot
from candlecast.errors import DataError

Build = Callable[..., DataConfig]


@pytest.fixture
def bars(data_config: Build) -> pl.DataFrame:
    return take_snapshot(data_config(source="synthetic")).bars


def test_the_hash_sees_the_last_bit_of_a_price(bars: pl.DataFrame) -> None:
    changed = bars.with_columns(
        pl.when(pl.int_range(pl.len()) == 3).then(pl.col("low") * (1 - 2**-52)).otherwise("low").alias("low")
    )
    assert content_hash(changed) != content_hash(bars)


def test_the_hash_sees_a_ticker_renamed_and_rows_moved_to_another(bars: pl.DataFrame) -> None:
    renamed = bars.with_columns(pl.col("ticker").replace("SYN001", "SYN009"))
    moved = bars.with_columns(
        pl.when(pl.int_range(pl.len()) == 700).then(pl.lit("SYN000")).otherwise("ticker").alias("ticker")
    )
    assert len({content_hash(frame) for frame in (bars, renamed, moved)}) == 3


def test_the_hash_does_not_see_chunks_or_the_sign_of_zero(bars: pl.DataFrame) -> None:
    chunked = pl.concat([bars.head(11), bars.slice(11)], rechunk=False)
    assert content_hash(chunked) == content_hash(bars)
    zero = bars.with_columns(volume=pl.lit(0.0))
    assert content_hash(zero) == content_hash(bars.with_columns(volume=pl.lit(-0.0)))


def test_a_manifest_reads_back_as_it_was(data_config: Build, tmp_path: Path) -> None:
    manifest = take_snapshot(data_config()).manifest
    manifest.save(tmp_path / "manifest.json")
    assert read_manifest(tmp_path / "manifest.json") == manifest


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"universe": 3}'])
def test_a_broken_manifest_is_one_line_that_names_the_remedy(tmp_path: Path, text: str) -> None:
    path = tmp_path / "manifest.json"
    path.write_text(text)
    with pytest.raises(DataError, match="dvc repro download"):
        read_manifest(path)
    with pytest.raises(DataError, match="no such file"):
        read_manifest(tmp_path / "other.json")
