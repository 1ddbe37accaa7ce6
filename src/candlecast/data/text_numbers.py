"""Numbers as people and web sites write them: `$1,234.50`, `22.79B`, `N/A`; a decimal comma if told so."""

from collections.abc import Callable
from typing import Final, Literal

import polars as pl

from candlecast.errors import DataError

_NOTHING: Final = ("", "null", "nan", "n/a", "na", "none", "-", "--", "#n/a")
_LARGE: Final = {"k": 1e3, "m": 1e6, "b": 1e9, "t": 1e12}
Place = Callable[[int], str]


def parse_numbers(
    text: pl.Series, decimal: Literal[".", ","] | None, counts: bool, what: str, place: Place
) -> pl.Series:
    """Return a column of text as Float64; null where it says that there is nothing.

    Parameters
    ----------
    text
        The column, of strings.
    decimal
        `data.files.decimal`; null means a point, unless the column itself casts doubt on it.
    counts
        Whether it counts something, as a volume does: 1.234 then may well be 1234.
    what
        File and column, for the error.
    place
        Where a row is, for the error.

    Raises
    ------
    DataError
        A field is no number, or could be two; with its place and the key that decides.
    """
    bare = text.str.strip_chars(" \t\u00a0\u202f$€£¥").str.to_lowercase()
    bare = bare.zip_with(~bare.is_in(_NOTHING), pl.Series([None], dtype=pl.String))
    bare = bare.str.replace_all(r"(\d)[\u00a0\u202f' ](\d{3})", "${1}${2}")
    factor = bare.str.extract(r"[\d.,]([kmbt])$")
    digits = bare.str.replace(r"([\d.,])[kmbt]$", "${1}")
    if decimal is None:
        _refuse_doubt(digits.filter(factor.is_null()), counts, what)
    point, group = (",", ".") if decimal == "," else (".", ",")
    grouped = digits.str.contains(rf"^[-+]?\d{{1,3}}([{group}]\d{{3}})+([{point}]\d*)?$")
    digits = digits.str.replace_all(group, "", literal=True).zip_with(grouped.fill_null(value=False), digits)
    if decimal == ",":  # a point that is left groups nothing, and makes it no number
        digits = digits.str.replace_all(".", "?", literal=True).str.replace(",", ".", literal=True)
    numbers = digits.cast(pl.Float64, strict=False)
    wrong = (numbers.is_null() & bare.is_not_null()).arg_true()
    if len(wrong):
        row = int(wrong[0])
        comma = decimal is None and "," in bare[row]
        hint = '; if that is a decimal comma, set data.files.decimal: ","' if comma else ""
        raise DataError(f"{what}, {place(row)}: {text[row][:40]!r} is no number{hint}")
    return numbers * factor.replace_strict(_LARGE, default=1.0, return_dtype=pl.Float64)


def _refuse_doubt(digits: pl.Series, counts: bool, what: str) -> None:
    """Refuse a column whose only separator may be of thousands or of decimals: 1,234."""
    for mark, other in ((",", "."), (".", ",")) if counts else ((",", "."),):
        marked = digits.filter(digits.str.contains(mark, literal=True))
        doubtful = marked.str.contains(rf"^[-+]?[1-9]\d{{0,2}}[{mark}]\d{{3}}$")
        if len(marked) and doubtful.all() and not digits.str.contains(other, literal=True).any():
            raise DataError(
                f"{what}: {marked[0]} may be thousands or decimals, as may all its like; "
                f'set data.files.decimal to "." or ","'
            )
