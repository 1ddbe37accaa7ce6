"""What a snapshot holds and where it came from, as JSON beside the bars."""

import dataclasses
import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import polars as pl

from candlecast.data.quality import Finding, Quality
from candlecast.data.source import Revision
from candlecast.errors import DataError
from candlecast.files import write_text
from candlecast.schema import BARS

NOT_RECORDED: Final = "not recorded"  # of the date of a choice


@dataclass(frozen=True, kw_only=True, slots=True)
class History:
    """What a snapshot holds of one ticker; dates are ISO text."""

    rows: int
    first: str
    last: str
    segments: int  # 1 unless a gap longer than data.max_gap cut it
    currency: str | None  # of the prices; None: the source does not say
    provisional: tuple[str, ...]  # dates of bars the vendor may still change
    notes: tuple[str, ...]  # what a reader should know of the history


@dataclass(frozen=True, kw_only=True, slots=True)
class Universe:
    """How the tickers were chosen: the answer to "would this have been tradable then?"."""

    chosen: str  # by what rule
    as_of: str  # the date on which the choice was made, ISO, or NOT_RECORDED
    note: str  # what follows for survivorship

    @property
    def words(self) -> str:
        """How the tickers were chosen and when, and what follows, for a reader."""
        when = (
            "the date on which this universe was chosen is not recorded"
            if self.as_of == NOT_RECORDED
            else f"chosen as of {self.as_of}"
        )
        return f"{self.chosen}; {when}; {self.note}"


@dataclass(frozen=True, kw_only=True, slots=True)
class Manifest:
    """A snapshot's origin, extent and identity."""

    source: str
    versions: dict[str, str]  # of what wrote it and what it was read with
    start: str
    end: str
    content_sha256: str  # of the values, not of the file: `content_hash`
    universe: Universe
    histories: dict[str, History]
    left_out: dict[str, str]  # ticker: reason
    quality: Quality
    revisions: tuple[Revision, ...]  # how the vendor changed what was fetched before
    retrieved_at: str | None  # ISO, UTC; None for a source that needs no network

    def save(self, path: Path) -> None:
        """Write it as JSON, whole or not at all."""
        write_text(path, json.dumps(dataclasses.asdict(self), indent=2, ensure_ascii=False) + "\n")


def read_manifest(path: Path) -> Manifest:
    """Read what `Manifest.save` wrote, or raise `DataError`."""
    try:
        values: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        values["universe"] = Universe(**values["universe"])
        values["histories"] = {name: _history(value) for name, value in values["histories"].items()}
        quality = values["quality"]
        quality["findings"] = tuple(Finding(**finding) for finding in quality["findings"])
        values["quality"] = Quality(**quality)
        values["revisions"] = tuple(Revision(**revision) for revision in values["revisions"])
        return Manifest(**values)
    except FileNotFoundError:
        raise DataError(f"{path}: no such file; run the download stage: dvc repro download") from None
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise DataError(f"{path}: not a manifest of this version ({error}); run dvc repro download") from None


def _history(values: dict[str, Any]) -> History:
    lists = {name: tuple(values[name]) for name in ("provisional", "notes")}
    return History(**{**values, **lists})


def content_hash(bars: pl.DataFrame) -> str:
    """Return the SHA-256 of the values, ticker by ticker and column by column.

    Numbers are little-endian, dates are days since 1970 and -0.0 counts as 0.0, so that neither the file's
    compression nor a library's version changes it.
    """
    digest = hashlib.sha256()
    kinds = {pl.Date(): "<i4", pl.Int32(): "<i4", pl.Float64(): "<f8"}
    lengths = bars.select(pl.col("ticker").rle()).unnest("ticker")
    start = 0
    for length, ticker in lengths.iter_rows():
        history = bars.slice(start, length)
        digest.update(f"{ticker}\0{length}\0".encode())
        for name, dtype in BARS.items():
            if name != "ticker":
                column = history[name].to_physical().to_numpy()
                digest.update(np.ascontiguousarray(column + 0, dtype=kinds[dtype]).tobytes())
        start += length
    return digest.hexdigest()
