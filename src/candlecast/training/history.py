"""A training as two tables of text, byte for byte the same when it is repeated: no wall clock in them."""

import csv
import io
from collections.abc import Sequence
from pathlib import Path

from candlecast.files import write_text
from candlecast.training.records import UpdateRecord, ValidationRecord

UPDATE_COLUMNS = (
    "update", "micro_step", "skipped_updates", "samples_seen", "epoch", "loss", "grad_norm", "lr",
)  # fmt: skip
NOISE_COLUMNS = ("trace", "signal", "scale", "low", "high")
VALIDATION_COLUMNS = (
    "update", "samples_seen", "loss", "return_rmse_error", "directional_accuracy", "best",
)  # fmt: skip


def write_history(
    folder: Path, updates: Sequence[UpdateRecord], validations: Sequence[ValidationRecord]
) -> None:
    """Write history.csv, one row an update, and validation.csv, one row a validation.

    Numbers are written with every digit they have; a value that does not exist is an empty field.
    """
    header = (*UPDATE_COLUMNS, *(f"noise_{name}" for name in NOISE_COLUMNS))
    rows = [
        [
            *(getattr(record, name) for name in UPDATE_COLUMNS),
            *(None if record.noise is None else getattr(record.noise, name) for name in NOISE_COLUMNS),
        ]
        for record in updates
    ]
    _write(folder / "history.csv", header, rows)
    scores = [[getattr(record, name) for name in VALIDATION_COLUMNS] for record in validations]
    _write(folder / "validation.csv", VALIDATION_COLUMNS, scores)


def _write(path: Path, header: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows([[_field(value) for value in row] for row in rows])
    write_text(path, text.getvalue())


def _field(value: object) -> object:
    return int(value) if isinstance(value, bool) else value
