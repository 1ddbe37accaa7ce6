"""What the report is made of, and how the training's tables are read."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import polars as pl

from candlecast.data.manifest import Manifest
from candlecast.evaluation.assess import Assessment
from candlecast.evaluation.audit import Audit
from candlecast.evaluation.evaluate import Metrics
from candlecast.training.memory_record import MemoryRecord

_COUNTERS: Final = ("update", "micro_step", "skipped_updates", "samples_seen")


@dataclass(frozen=True, kw_only=True, slots=True)
class ReportInputs:
    """All that the page tells, as read from the stages' files."""

    forecasts: pl.DataFrame  # schema.FORECASTS: the network's and the baselines', both parts
    metrics: Metrics
    history: pl.DataFrame  # reports/training/history.csv, one row an update
    validation: pl.DataFrame  # reports/training/validation.csv
    manifest: Manifest
    boundaries: Mapping[str, str]  # Split.boundaries: train_start, train_end, validation_start, ...
    params: Mapping[str, Any]  # params.yaml as read
    assessment: Assessment | None  # None: the test span is too short for intervals
    audit: Audit | None  # None: the audit was not run
    memory: MemoryRecord | None = None  # None: the training left no record
    provenance: Mapping[str, str]  # label -> value: commit, data hash, versions, hardware, MLflow run, ...


def read_training(folder: Path) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return history.csv and validation.csv as `training.history` wrote them.

    Counters are whole numbers, `best` is true or false, everything else is a number or null.
    """
    history, validation = (
        pl.read_csv(folder / name, infer_schema=False).with_columns(
            pl.col(_COUNTERS[0]).cast(pl.Int64), pl.exclude(_COUNTERS).cast(pl.Float64)
        )
        for name in ("history.csv", "validation.csv")
    )
    whole = [pl.col(name).cast(pl.Int64) for name in _COUNTERS]
    history = history.with_columns(whole)
    return history, validation.with_columns(pl.col("samples_seen").cast(pl.Int64), pl.col("best") == 1)
