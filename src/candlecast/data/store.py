"""Bars fetched so far, one file a ticker, written whole or not at all: a run may be cut short anywhere."""

import datetime
import json
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import polars as pl

from candlecast.data.source import RAW_BARS, Fetched
from candlecast.data.ticker_names import file_name
from candlecast.errors import DataError
from candlecast.files import replacing
from candlecast.schema import check

_KEY: Final = "candlecast"  # of the file's own metadata
_ABANDONED: Final = 3600.0  # seconds after which a temporary file is a dead process's


@dataclass(frozen=True, kw_only=True, slots=True)
class Stored:
    """One ticker's bars, the span they were asked for, and the day on which."""

    fetched: Fetched
    start: datetime.date
    end: datetime.date
    asked_on: datetime.date


class BarStore:
    """A folder with one Parquet file a ticker."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        for leftover in folder.glob(".*.parquet"):
            if time.time() - leftover.stat().st_mtime > _ABANDONED:
                leftover.unlink(missing_ok=True)

    @property
    def lock(self) -> Path:
        """The file whose lock a process holds while it fetches."""
        return self._folder / ".lock"

    def load(self, ticker: str) -> Stored | None:
        """Return what is stored of a ticker, or None."""
        path = self._path(ticker)
        if not path.is_file():
            return None
        try:
            bars = check(pl.read_parquet(path), RAW_BARS, str(path))
            about: dict[str, Any] = json.loads(pl.read_parquet_metadata(path)[_KEY])
        except (pl.exceptions.PolarsError, ValueError, KeyError) as error:
            raise DataError(f"{path}: cannot be read ({error}); delete it to fetch it again") from None
        fetched = Fetched(
            bars=bars,
            currency=about["currency"],
            splits={_day(day): ratio for day, ratio in about["splits"].items()},
            provisional=tuple(map(_day, about["provisional"])),
            notes=tuple(about["notes"]),
        )
        start, end, asked_on = (_day(about[name]) for name in ("start", "end", "asked_on"))
        return Stored(fetched=fetched, start=start, end=end, asked_on=asked_on)

    def save(self, ticker: str, stored: Stored) -> None:
        """Write it, whole or not at all."""
        fetched = stored.fetched
        about = {
            "start": str(stored.start),
            "end": str(stored.end),
            "asked_on": str(stored.asked_on),
            "currency": fetched.currency,
            "splits": {str(day): ratio for day, ratio in fetched.splits.items()},
            "provisional": [str(day) for day in fetched.provisional],
            "notes": list(fetched.notes),
        }
        with replacing(self._path(ticker)) as temporary:
            fetched.bars.write_parquet(temporary, metadata={_KEY: json.dumps(about)})

    def _path(self, ticker: str) -> Path:
        return self._folder / f"{file_name(ticker)}.parquet"


def _day(text: str) -> datetime.date:
    return datetime.date.fromisoformat(text)
