"""One's own bars from CSV or Parquet: one file a ticker, named after it, or one long file."""

import datetime
from functools import cached_property
from pathlib import Path
from typing import Final

import polars as pl

from candlecast.data.source import RAW_BARS, Fetched
from candlecast.errors import DataError

_SUFFIXES: Final = (".csv", ".parquet")
_NAMES: Final = {
    "date": ("date",),
    "open": ("open",),
    "high": ("high",),
    "low": ("low",),
    "close": ("close",),
    "adjusted_close": ("adjusted_close", "adj close", "adj_close", "adjclose"),
    "volume": ("volume",),
    "ticker": ("ticker", "symbol"),
}


class FilesSource:
    """Bars in files the user has."""

    name = "files"

    def __init__(self, path: Path) -> None:
        if not path.exists():
            raise DataError(f"data.path: {path} does not exist")
        self._path = path

    def tickers(self) -> tuple[str, ...]:
        """The names of the files in the folder, or the values of the ticker column."""
        if self._path.is_dir():
            return tuple(sorted(file.stem for file in self._path.iterdir() if file.suffix in _SUFFIXES))
        return tuple(self._long["ticker"].unique().sort())

    def packages(self) -> tuple[str, ...]:
        """None beside polars."""
        return ()

    def fetch(self, ticker: str, start: datetime.date, end: datetime.date) -> Fetched:
        """One ticker's `RAW_BARS`, both dates inclusive; raises `DataError` naming file and column."""
        if self._path.is_dir():
            files = [self._path / f"{ticker}{suffix}" for suffix in _SUFFIXES]
            present = [file for file in files if file.is_file()]
            if not present:
                raise DataError(f"data.tickers: {self._path} has no file for {ticker}")
            frame = _read(present[0])
        else:
            frame = self._long.filter(pl.col("ticker") == ticker)
        return Fetched(
            bars=frame.select(RAW_BARS.names()).filter(pl.col("date").is_between(start, end)).sort("date")
        )

    @cached_property
    def _long(self) -> pl.DataFrame:
        frame = _read(self._path)
        if "ticker" not in frame.columns:
            raise DataError(f"{self._path}: no ticker column; one file a ticker belongs in a folder")
        return frame


def _read(file: Path) -> pl.DataFrame:
    raw = pl.read_parquet(file) if file.suffix == ".parquet" else pl.read_csv(file, infer_schema=False)
    found = {column.strip().lower(): column for column in raw.columns}
    columns: dict[str, pl.Expr] = {}
    for field, names in _NAMES.items():
        present = [found[name] for name in names if name in found]
        if present:
            columns[field] = pl.col(present[0])
        elif field == "adjusted_close" and "close" in columns:
            columns[field] = columns["close"]
        elif field != "ticker":
            raise DataError(f"{file}: no column for {field}; it has {', '.join(raw.columns)}")
    if raw.schema[found["date"]] == pl.String():
        columns["date"] = columns["date"].str.to_date("%Y-%m-%d")
    try:
        return raw.select(
            value.cast(RAW_BARS.get(field, pl.String())).alias(field) for field, value in columns.items()
        )
    except pl.exceptions.PolarsError as error:
        raise DataError(f"{file}: {str(error).splitlines()[0]}") from None
