"""One's own bars from CSV, Parquet or Feather: one file a ticker, named after it, or one file of many."""

import datetime
from functools import cached_property
from pathlib import Path
from typing import Final

import polars as pl

from candlecast.data.config import FilesConfig
from candlecast.data.file_bars import binary_bars, text_bars
from candlecast.data.headers import match_headers, shown
from candlecast.data.source import Fetched, between
from candlecast.data.tables import BINARY, PACKED, TEXT, is_binary, scan, suffix_of
from candlecast.data.ticker_names import ticker_of
from candlecast.errors import DataError, UnknownTickerError

_ROWS_AT_ONCE: Final = 1_000_000  # of a long binary file, which may be larger than memory


class FilesSource:
    """Bars in files the user has; nothing is ever written beside them."""

    name = "files"

    def __init__(self, path: Path, config: FilesConfig) -> None:
        if not path.exists():
            raise DataError(f"data.path: {path} does not exist")
        self._path = path
        self._config = config
        self._batch: dict[str, Fetched] = {}

    def tickers(self) -> tuple[str, ...]:
        """The names of the files, or the values of a ticker column."""
        return tuple(self._files if self._path.is_dir() else self._rows)

    def packages(self) -> tuple[str, ...]:
        """None beside polars."""
        return ()

    def fetch(self, ticker: str, start: datetime.date, end: datetime.date) -> Fetched:
        """One ticker, both dates inclusive; raises `UnknownTickerError`, or `DataError` naming the file."""
        if ticker not in self.tickers():
            raise UnknownTickerError(f"{self._path} has no {ticker}")
        fetched = self._of_file(ticker) if self._path.is_dir() else self._of_long(ticker)
        file = self._files[ticker] if self._path.is_dir() else self._path
        bars = between(fetched.bars, start, end, ticker, file.name)
        if bars.is_empty():
            raise DataError(f"{ticker}: {file} has no bars; remove it, or take {ticker} out of data.tickers")
        return Fetched(bars=bars, notes=fetched.notes)

    @cached_property
    def _files(self) -> dict[str, Path]:
        """The file of each ticker, sorted by ticker."""
        files: dict[str, Path] = {}
        for file in sorted(self._path.iterdir()):
            suffix = suffix_of(file.name)
            if suffix is None or file.name.startswith(".") or not file.is_file():
                continue
            ticker = ticker_of(file.name.removesuffix(suffix))
            if ticker in files:
                raise DataError(
                    f"{self._path}: {files[ticker].name} and {file.name} are both {ticker}; remove one"
                )
            files[ticker] = file
        if not files:
            kinds = ", ".join([*TEXT, *(f"{TEXT[0]}{packed}" for packed in PACKED), *BINARY])
            raise DataError(f"data.path: {self._path} holds no file of a kind we read: {kinds}")
        return dict(sorted(files.items()))

    def _of_file(self, ticker: str) -> Fetched:
        file = self._files[ticker]
        bars = (
            binary_bars(scan(file), file, self._config) if is_binary(file) else text_bars(file, self._config)
        )
        names = bars.tickers
        if len(names) > 1:
            raise DataError(
                f"{file}: holds {len(names)} tickers ({', '.join(map(shown, names[:3]))}, ...); "
                f"set data.path to that file alone, or split it"
            )
        return bars.fetched

    @cached_property
    def _rows(self) -> dict[str, int]:
        """How many rows of the long file each ticker has, sorted by ticker."""
        if not is_binary(self._path):
            return {ticker: fetched.bars.height for ticker, fetched in self._long_text.items()}
        table = scan(self._path)
        headers = table.collect_schema().names()
        place = match_headers(self._path, headers, self._config).get("ticker")
        if place is None:
            return {self._stem: 1}
        counts = table.group_by(pl.col(headers[place]).cast(pl.String)).len().collect(engine="streaming")
        return dict(sorted(counts.drop_nulls().iter_rows()))

    @cached_property
    def _long_text(self) -> dict[str, Fetched]:
        bars = text_bars(self._path, self._config)
        if not bars.tickers:
            return {self._stem: bars.fetched}
        return dict(sorted(bars.by_ticker().items()))

    @property
    def _stem(self) -> str:
        return ticker_of(self._path.name.removesuffix(suffix_of(self._path.name) or ""))

    def _of_long(self, ticker: str) -> Fetched:
        if not is_binary(self._path):
            return self._long_text[ticker]
        if ticker not in self._batch:
            self._batch.clear()  # before the next is read: two would be twice the memory
            self._batch = self._read_batch(ticker)
        return self._batch[ticker]

    def _read_batch(self, first: str) -> dict[str, Fetched]:
        """Read a ticker and those after it, about a million rows at a time."""
        names = list(self._rows)
        wanted: list[str] = []
        rows = 0
        for name in names[names.index(first) :]:
            if wanted and rows + self._rows[name] > _ROWS_AT_ONCE:
                break
            wanted.append(name)
            rows += self._rows[name]
        table = scan(self._path)
        headers = table.collect_schema().names()
        place = match_headers(self._path, headers, self._config).get("ticker")
        if place is None:
            return {first: binary_bars(table, self._path, self._config).fetched}
        part = table.filter(pl.col(headers[place]).cast(pl.String).is_in(wanted))
        return binary_bars(part, self._path, self._config).by_ticker()
