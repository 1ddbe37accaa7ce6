"""Arrays and records as files: .npy and JSON, never a pickle; equal values give equal bytes."""

import json
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from candlecast.errors import DataError
from candlecast.files import replacing, write_text

REMEDY: Final = "make it again with: dvc repro windows"


def save_array(path: Path, values: NDArray[Any]) -> None:
    """Write one array, whole or not at all; never as a pickle."""
    with replacing(path) as temporary, temporary.open("wb") as file:
        np.save(file, np.ascontiguousarray(values), allow_pickle=False)


def load_array(path: Path, dtype: np.dtype[Any], mmap: bool = False) -> NDArray[Any]:
    """Return one array, or raise `DataError` naming the file that is missing, cut short or of another type.

    A memory-mapped array is copy-on-write: the file is never changed, yet torch may view it.
    """
    try:
        values: NDArray[Any] = np.load(path, mmap_mode="c" if mmap else None, allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        raise DataError(f"{path}: cannot be read ({error}); {REMEDY}") from None
    if values.dtype != dtype:
        raise DataError(f"{path}: holds {values.dtype}, expected {dtype}; {REMEDY}")
    return values


def write_json(path: Path, values: dict[str, Any]) -> None:
    """Write `values` with sorted keys, so that equal values give equal bytes."""
    write_text(path, json.dumps(values, indent=2, sort_keys=True) + "\n")


def read_json(path: Path, names: tuple[str, ...]) -> dict[str, Any]:
    """Return the object in a JSON file, which has exactly these keys, or raise `DataError` naming it."""
    try:
        values: Any = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise DataError(f"{path}: cannot be read ({error}); {REMEDY}") from None
    if not isinstance(values, dict) or set(values) != set(names):
        raise DataError(f"{path}: does not hold {', '.join(names)} and nothing else; {REMEDY}")
    return values


def refuse_outside(path: Path, values: NDArray[np.integer], least: int, beyond: int) -> None:
    """Raise `DataError` naming the file unless all numbers in it are from `least` to `beyond` - 1."""
    if values.size and (values.min() < least or values.max() >= beyond):
        wrong = values.min() if values.min() < least else values.max()
        raise DataError(
            f"{path}: holds {wrong}, where {least} to {beyond - 1} are possible; it is damaged or belongs to "
            f"other files; {REMEDY}"
        )
