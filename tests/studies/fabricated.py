"""Runs in a tracking store with differences that are known beforehand: nothing was trained."""

import json
import math
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
from mlflow import MlflowClient
from mlflow.entities import Metric, Param
from ruamel.yaml import YAML

from candlecast.studies.cells import Cell, apply
from candlecast.tracking.identity import flatten

ROOT = Path(__file__).parents[2]
PARAMS = YAML(typ="safe", pure=True).load((ROOT / "params.yaml").read_text())
SAMPLES, EVERY = 1024, 128  # windows of a training, and between validations
NOISE = 0.4  # standard deviation of one window's loss
Scores = dict[str, float]
BASELINE: Scores = {"log_loss_error": 0.6931, "brier_error": 0.25}


def window_noise(seed: int) -> np.ndarray:
    """Every window's loss about its mean, in the order in which all arms see them."""
    return np.random.default_rng(seed).normal(0, NOISE, SAMPLES)


def training_losses(seed: int, effective: int) -> np.ndarray:
    """Each update's loss: the mean of its windows, on a slope that all arms share."""
    means = window_noise(seed).reshape(-1, effective).mean(axis=1)
    return 1.0 + 0.2 * np.exp(-np.arange(effective, SAMPLES + 1, effective) / 300) + means


def validation_loss(seed: int, offset: float, samples: int) -> float:
    """The arm's offset on a curve that all arms share, and a shift that is the seed's."""
    return 0.7 + offset + 0.1 * math.exp(-samples / 400) + 0.02 * math.sin(3.7 * seed)


def add_run(
    client: MlflowClient,
    experiment: str,
    cell: Cell,
    offset: float,
    scores: Mapping[str, float] = MappingProxyType({}),
    status: str = "FINISHED",
    params: Mapping[str, Any] = PARAMS,
) -> str:
    """Leave what the training and evaluation of a cell would; return the run's id."""
    values = apply(params, cell.overrides)
    micro = values["accum"]["micro_batch"]
    effective = micro * values["accum"]["steps"]
    run_id: str = client.create_run(experiment, tags=_tags(cell), run_name=cell.name).info.run_id
    plan = {"micro_batch": micro, "effective_batch": effective, "precision": "fp32"}
    text = flatten({**values, "plan": plan})
    logged = [Param(key, value) for key, value in text.items()]
    for start in range(0, len(logged), 100):
        client.log_batch(run_id, params=logged[start : start + 100])
    points = [*_updates(cell.seed, effective), *_validations(cell.seed, effective, offset)]
    points = points if cell.phase == "confirmation" else []
    totals = {
        "total/seconds": 2.0 * effective,
        "total/samples_seen": SAMPLES,
        "total/skipped_updates": 0,
        "total/peak_memory_mib": 500.0 + micro,
        "val/best_loss": validation_loss(cell.seed, offset, SAMPLES),
        **{f"test/{name}": value for name, value in scores.items()},
    }
    points += [(name, value, 0) for name, value in totals.items()]
    metrics = [Metric(name, float(value), 1, step) for name, value, step in points]
    for start in range(0, len(metrics), 1000):
        client.log_batch(run_id, metrics=metrics[start : start + 1000])
    if cell.phase == "confirmation":
        client.log_text(run_id, _history(cell.seed, effective), "training/history.csv")
        client.log_text(run_id, json.dumps({"baselines": {"training_mean": BASELINE}}), "metrics.json")
    client.set_terminated(run_id, status)
    return run_id


def _tags(cell: Cell) -> dict[str, str]:
    return {
        "candlecast.study": cell.study,
        "candlecast.arm": cell.arm,
        "candlecast.phase": cell.phase,
        "dvc.experiment": cell.name,
        "data.sha256": "d" * 64,
        "hardware": "a made-up machine",
    }


def _updates(seed: int, effective: int) -> list[tuple[str, float, int]]:
    points: list[tuple[str, float, int]] = []
    for update, loss in enumerate(training_losses(seed, effective), start=1):
        values: dict[str, Any] = {
            "train/loss": loss,
            "train/grad_norm": 0.5 if update % 4 else 1.5,  # a quarter is above train.clip_norm
            "train/windows_per_second": 100.0,
            "samples_seen": update * effective,
            "seconds": update * effective / 100,
        }
        points += [(name, value, update) for name, value in values.items()]
    return points


def _validations(seed: int, effective: int, offset: float) -> list[tuple[str, float, int]]:
    points: list[tuple[str, float, int]] = []
    for samples in range(EVERY, SAMPLES + 1, EVERY):
        generator = np.random.default_rng([seed, samples, effective])
        values = {
            "val/loss": validation_loss(seed, offset, samples),
            "val/return_rmse_error": 1.0 + generator.normal(0, 0.02),
            "val/directional_accuracy": 0.5 + generator.normal(0, 0.02),
        }
        points += [(name, value, samples // effective) for name, value in values.items()]
    return points


def _history(seed: int, effective: int) -> str:
    lines = ["update,micro_step,skipped_updates,samples_seen,epoch,loss,grad_norm,lr,noise_scale"]
    for update, loss in enumerate(training_losses(seed, effective), start=1):
        norm = 0.5 if update % 4 else 1.5
        lines.append(f"{update},{update},0,{update * effective},0.1,{loss},{norm},0.001,")
    return "\n".join(lines) + "\n"
