"""What a training was predicted to hold in memory, and on a GPU what it held, kept beside its history."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

import torch

from candlecast.errors import DataError
from candlecast.files import write_text
from candlecast.training.memory import MemorySplit, predict
from candlecast.training.precision import make_precision
from candlecast.training.rehearsal import Workload

FILE: Final = "memory.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryRecord:
    """Bytes at the peak of an update, of one process."""

    precision: str
    micro_batch: int
    effective_batch: int
    checkpoint_activations: bool
    predicted: MemorySplit
    measured: int | None  # allocated on the GPU at the most, validation included; None without a GPU


def record_memory(workload: Workload, micro_batch: int, device: torch.device) -> MemoryRecord:
    """Return the record of a training that has just ended on `device`, with the micro-batch it ended with."""
    precision = make_precision(workload.recipe.train.precision, device).name
    effective_batch = workload.recipe.accum.windows_per_update
    return MemoryRecord(
        precision=precision,
        micro_batch=micro_batch,
        effective_batch=effective_batch,
        checkpoint_activations=workload.model.checkpoint_activations,
        predicted=predict(workload, precision).peak(micro_batch, effective_batch),
        measured=torch.cuda.max_memory_allocated(device) if device.type == "cuda" else None,
    )


def write_memory(folder: Path, record: MemoryRecord) -> None:
    """Write memory.json; without a GPU the same bytes for the same training."""
    write_text(folder / FILE, json.dumps(asdict(record), indent=2) + "\n")


def read_memory(folder: Path) -> MemoryRecord | None:
    """Return the record in `folder`, None where a training left none, or raise `DataError`."""
    path = folder / FILE
    if not path.exists():
        return None
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
        return MemoryRecord(**{**values, "predicted": MemorySplit(**values["predicted"])})
    except (ValueError, TypeError, KeyError) as error:
        raise DataError(f"{path}: not a record of memory ({error}); make it again with: dvc repro") from None
