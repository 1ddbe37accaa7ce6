"""Which column of a file is which: by the names vendors use, or as the parameters say."""

import re
from collections.abc import Sequence
from typing import Final

from candlecast.data.config import FilesConfig
from candlecast.errors import DataError

# Compared without case, marks and doubled blanks: `<VOL>` and `Vol.` are both vol.
NAMES: Final = {
    "ticker": ("ticker", "symbol"),
    "date": ("date", "datetime", "timestamp", "time", "day"),
    "open": ("open",),
    "high": ("high",),
    "low": ("low",),
    "close": ("close", "last", "close/last", "price"),
    "adjusted_close": ("adj close", "adjclose", "adj. close", "adjusted close", "adjustedclose"),
    "volume": ("volume", "vol"),
}
_OPTIONAL: Final = ("ticker", "adjusted_close")
_PERIOD: Final = "per"  # Stooq's column that says of which span each bar is


def normalise(header: str) -> str:
    """Return a header as it is compared."""
    return re.sub(r"[\s_]+", " ", header.strip().strip("<>").strip().lower()).removesuffix(".")


def shown(text: str) -> str:
    """Return a text from a file as an error may show it: in one line, and short."""
    return "".join(mark if mark.isprintable() else "\N{REPLACEMENT CHARACTER}" for mark in text.strip()[:60])


def looks_like_header(fields: Sequence[str]) -> bool:
    """Whether a first row names columns: it has a name we know, or no field that begins like a number."""
    known = {name for names in NAMES.values() for name in names}
    return any(normalise(field) in known for field in fields) or not any(
        re.match(r"[-+$]?\d", field.strip()) for field in fields
    )


def match_headers(file: object, headers: Sequence[str], config: FilesConfig) -> dict[str, int]:
    """Return the position of each field's column: of every field but `ticker` and `adjusted_close`, always.

    Raises `DataError` listing what was found, and the key that decides, for a field with no column or two.
    """
    positions: dict[str, int] = {}
    for field in NAMES:
        found = _candidates(file, field, headers, getattr(config, field))
        if len(found) > 1:
            names = " and ".join(repr(headers[position]) for position in found)
            raise DataError(f"{file}: {names} may each be {field}; set data.files.{field} to one of them")
        if found:
            positions[field] = found[0]
        elif field not in _OPTIONAL:
            raise DataError(
                f"{file}: no column for {field}; it has {_listed(headers)}; set data.files.{field}"
            )
    return positions


def period_column(headers: Sequence[str]) -> int | None:
    """Return the position of a column that says of which span the bars are, if there is one."""
    return next((place for place, header in enumerate(headers) if normalise(header) == _PERIOD), None)


def _candidates(file: object, field: str, headers: Sequence[str], chosen: str | None) -> list[int]:
    plain = [normalise(header) for header in headers]
    if chosen is not None:
        exact = [place for place, header in enumerate(headers) if header.strip() == chosen.strip()]
        found = exact or [place for place, header in enumerate(plain) if header == normalise(chosen)]
        if not found:
            raise DataError(f"data.files.{field}: {file} has no column {chosen!r}; it has {_listed(headers)}")
        return found
    found = [place for place, header in enumerate(plain) if header in NAMES[field]]
    if field == "date" and len(found) > 1:  # a time of day beside its date is no second date
        found = [place for place in found if plain[place] != "time"]
    return found


def _listed(headers: Sequence[str]) -> str:
    return ", ".join(shown(header) for header in headers)
