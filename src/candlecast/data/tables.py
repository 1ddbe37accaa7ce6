"""Open a file of any format we read, as a table with the file's own column names.

Text stays text here: what a number or a date is, is decided later, over the whole column.
"""

import csv
import gzip
import io
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Final, Protocol

import polars as pl

from candlecast.data.config import FilesConfig
from candlecast.data.headers import looks_like_header
from candlecast.errors import DataError, ParamsError

TEXT: Final = (".csv", ".txt", ".tsv")
BINARY: Final = (".parquet", ".feather", ".arrow", ".ipc")
PACKED: Final = (".gz", ".zip")
_DELIMITERS: Final = (",", ";", "\t", "|")
_ROWS_AT_ONCE: Final = 50_000
_MARKS: Final = ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))


class Reader(Protocol):
    """What `csv.reader` returns; its own name is private."""

    line_num: int

    def __iter__(self) -> Iterator[list[str]]: ...


@dataclass(frozen=True, slots=True)
class Table:
    """A file's columns; those of text are strings, with null for an empty field."""

    file: Path
    headers: tuple[str, ...]  # as in the file; two may be equal
    frame: pl.DataFrame  # columns named "0", "1", ... in the headers' order
    lines: pl.Series | None  # of each row, the line in the file; None: not text
    footer: str | None  # a last line of another shape, which is left out

    def place(self, row: int) -> str:
        """Where a row is, for an error."""
        return f"line {self.lines[row]}" if self.lines is not None else f"row {row}"


def suffix_of(name: str) -> str | None:
    """Return a file name's suffix if it is one we read, such as `.csv`, `.csv.gz` or `.parquet`."""
    lowered = name.lower()
    plain = [*TEXT, *BINARY, ".zip"]
    for suffix in [*(text + packed for text in TEXT for packed in PACKED), *plain]:
        if lowered.endswith(suffix) and len(name) > len(suffix):
            return name[-len(suffix) :]
    return None


def is_binary(file: Path) -> bool:
    """Whether the file is a table with types of its own, and can be read in part."""
    return file.suffix.lower() in BINARY


def scan(file: Path) -> pl.LazyFrame:
    """Return a binary table, to be read in part, or raise `DataError`."""
    try:
        opened = pl.scan_parquet(file) if file.suffix.lower() == ".parquet" else pl.scan_ipc(file)
        opened.collect_schema()
    except (pl.exceptions.PolarsError, OSError) as error:
        raise DataError(f"{file}: cannot be read as {file.suffix[1:]}: {_line(error)}") from None
    return opened


def read_text(file: Path, config: FilesConfig) -> Table:
    """Read delimited text, packed or not.

    Raises
    ------
    DataError
        Naming file, line and, where a key of `data.files` can decide what the file does not, that key.
    """
    text = _decode(file, _unpack(file), config.encoding)
    if not text.strip():
        raise DataError(f"{file}: is empty")
    delimiter = config.delimiter or _delimiter(file, text)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        return _table(file, reader, config)
    except csv.Error as error:
        raise DataError(f"{file}: line {reader.line_num}: {_line(error)}") from None


def _unpack(file: Path) -> bytes:
    try:
        content = file.read_bytes()
        if file.suffix.lower() == ".gz":
            return gzip.decompress(content)
        if file.suffix.lower() == ".zip":
            with zipfile.ZipFile(io.BytesIO(content)) as archive:
                members = [name for name in archive.namelist() if not name.endswith("/")]
                if len(members) != 1:
                    raise DataError(
                        f"{file}: holds {len(members)} files ({', '.join(members[:5])}); pack each alone"
                    )
                return archive.read(members[0])
    except (OSError, EOFError, zlib.error, zipfile.BadZipFile, RuntimeError, NotImplementedError) as error:
        raise DataError(f"{file}: cannot be read: {_line(error)}") from None
    return content


def _decode(file: Path, content: bytes, encoding: str | None) -> str:
    marked = next((name for mark, name in _MARKS if content.startswith(mark)), None)
    try:
        text = content.decode(encoding or marked or "utf-8")
    except LookupError:
        raise ParamsError(f"data.files.encoding: Python knows no {encoding!r}; e.g. cp1252, utf-16") from None
    except UnicodeError:
        tried = encoding or marked or "UTF-8"
        raise DataError(f"{file}: is not {tried}; set data.files.encoding, e.g. cp1252") from None
    if "\0" in text:
        raise DataError(f"{file}: holds NUL characters; set data.files.encoding, e.g. utf-16, if it is text")
    return text.removeprefix("\ufeff")


def _delimiter(file: Path, text: str) -> str:
    """Return the one delimiter of the first line, or of several the one that divides the next lines alike."""
    lines = [line for line in islice(io.StringIO(text, newline=None), 20) if line.strip()]
    try:
        fields = {mark: [len(row) for row in csv.reader(lines, delimiter=mark)] for mark in _DELIMITERS}
    except csv.Error as error:
        raise DataError(f"{file}: its first lines are not delimited text: {_line(error)}") from None
    fitting = [mark for mark, counts in fields.items() if counts[0] > 1]
    if len(fitting) > 1:  # the last line may be a footer
        fitting = [mark for mark in fitting if set(fields[mark][:-1]) == {fields[mark][0]}]
    if len(fitting) != 1:
        why = "more than one" if fitting else "none"
        raise DataError(
            f"{file}: {why} of comma, semicolon, tab and bar can be what divides its first line, "
            f"{lines[0].strip()[:60]!r}; set data.files.delimiter"
        )
    return fitting[0]


def _table(file: Path, reader: Reader, config: FilesConfig) -> Table:
    rows = _filled_rows(reader)
    headers = config.columns or _header(file, next(rows, (0, []))[1])
    schema = {str(position): pl.String() for position in range(len(headers))}
    parts = [pl.DataFrame(schema=schema)]
    lines: list[int] = []
    odd: tuple[int, list[str]] | None = None  # a row of another length: forgiven only where it is the last
    while chunk := list(islice(rows, _ROWS_AT_ONCE)):
        fitting = []
        for line, row in chunk:
            if odd:
                break
            if len(row) == len(headers):
                fitting.append(row)
                lines.append(line)
            else:
                odd = line, row
        parts.append(pl.DataFrame(fitting, schema=schema, orient="row"))
        if odd and (chunk[-1][0] != odd[0] or next(rows, None)):
            raise DataError(_uneven(file, odd, len(headers)))
    if odd and (len(odd[1]) > len(headers) or odd[1][0].strip()[:1].isdigit()):
        raise DataError(_uneven(file, odd, len(headers)))
    footer = ",".join(odd[1]) if odd else None
    return Table(file, tuple(headers), pl.concat(parts), pl.Series(lines, dtype=pl.Int64), footer)


def _header(file: Path, first: list[str]) -> tuple[str, ...]:
    if not first:
        raise DataError(f"{file}: is empty")
    if not looks_like_header(first):
        raise DataError(
            f"{file}: its first line {','.join(first)[:60]!r} names no column; "
            f"set data.files.columns to their names, e.g. [date, open, high, low, close, volume]"
        )
    return tuple(first)


def _uneven(file: Path, row: tuple[int, list[str]], fields: int) -> str:
    return f"{file}: line {row[0]} has {len(row[1])} fields instead of {fields}"


def _filled_rows(reader: Reader) -> Iterator[tuple[int, list[str]]]:
    for row in reader:
        if any(field.strip() for field in row):
            yield reader.line_num, row


def _line(error: Exception) -> str:
    return str(error).strip().splitlines()[0][:160] if str(error).strip() else type(error).__name__
