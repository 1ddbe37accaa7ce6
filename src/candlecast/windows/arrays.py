"""Arrays and records as files: .npy and JSON, never a pickle; equal values give equal bytes."""

import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from candlecast.errors import DataError
from candlecast.files import replacing, write_text


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
        raise DataError(f"{path}: cannot be read ({error}); make it again with: dvc repro windows") from None
    if values.dtype != dtype:
        raise DataError(
            f"{path}: holds {values.dtype}, expected {dtype}; make it again with: dvc repro windows"
        )
    return values


def write_json(path: Path, values: dict[str, Any]) -> None:
    """Write `values` with sorted keys, so that equal values give equal bytes."""
    write_text(path, json.dumps(values, indent=2, sort_keys=True) + "\n")


def read_json(path: Path) -> dict[str, Any]:
    """Return the object in a JSON file, or raise `DataError` naming it."""
    try:
        values: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise DataError(f"{path}: cannot be read ({error}); make it again with: dvc repro windows") from None
    return values
