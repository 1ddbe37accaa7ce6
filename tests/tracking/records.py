"""Small records, as a training of windows of an effective batch of 20 would send them."""

from typing import Any

from candlecast.training.records import Outcome, TrainingPlan, TrainingSummary, UpdateRecord, ValidationRecord

EFFECTIVE_BATCH = 20


def plan(**changes: Any) -> TrainingPlan:
    values: dict[str, Any] = {
        "parameters": 1000,
        "training_windows": 100,
        "validation_windows": 30,
        "micro_batch": 5,
        "effective_batch": EFFECTIVE_BATCH,
        "total_updates": 50,
        "total_samples": 1000,
        "peak_lr": 1e-3,
        "beta2": 0.999,
        "precision": "fp32",
        "device": "cpu",
    }
    return TrainingPlan(**values | changes)


def update(number: int, **changes: Any) -> UpdateRecord:
    values: dict[str, Any] = {
        "update": number,
        "micro_step": 4 * number,
        "skipped_updates": 0,
        "samples_seen": EFFECTIVE_BATCH * number,
        "epoch": EFFECTIVE_BATCH * number / 100,
        "loss": 1.0 / number,
        "grad_norm": 2.0 / number,
        "lr": 1e-3,
        "seconds": 0.5 * number,
        "windows_per_second": 40.0,
    }
    return UpdateRecord(**values | changes)


def validation(number: int) -> ValidationRecord:
    return ValidationRecord(
        update=number,
        samples_seen=EFFECTIVE_BATCH * number,
        loss=0.5 + 1.0 / number,
        return_rmse_error=1.0,
        directional_accuracy=0.52,
        best=True,
    )


def summary(number: int, outcome: Outcome = "finished") -> TrainingSummary:
    return TrainingSummary(
        outcome=outcome,
        update=number,
        micro_step=4 * number,
        skipped_updates=0,
        samples_seen=EFFECTIVE_BATCH * number,
        seconds=0.5 * number,
        best_update=number - 1,
        best_loss=0.6,
    )
