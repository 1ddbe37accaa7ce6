"""The peak memory that training's plan predicts for a tracked run, from the parameters the run logged."""

from collections.abc import Mapping, Sequence
from typing import Any, cast

from ruamel.yaml import YAML

from candlecast.errors import ParamsError
from candlecast.features.catalogue import select
from candlecast.features.config import Family
from candlecast.models.config import ModelConfig
from candlecast.params import parse
from candlecast.tracking.runs import TrackedRun
from candlecast.training.config import AccumConfig, Recipe, TrainConfig
from candlecast.training.memory import MemoryModel, MemorySplit, predict
from candlecast.training.precision import Name
from candlecast.training.rehearsal import Workload


def predicted_peaks(runs: Mapping[str, TrackedRun]) -> dict[str, MemorySplit]:
    """Return each arm's predicted peak in bytes; an arm whose parameters are not of this version is left out.

    Arms that differ in their batches alone share one prediction, which takes seconds.
    """
    known: list[tuple[Workload, Name, MemoryModel]] = []
    peaks = {}
    for arm, run in runs.items():
        try:
            workload, precision = workload_of(run.params), cast(Name, run.params["plan.precision"])
            micro, effective = (
                int(run.params[f"plan.{name}"]) for name in ("micro_batch", "effective_batch")
            )
        except (ParamsError, KeyError, ValueError):
            continue
        peaks[arm] = _model(workload, precision, known).peak(micro, effective)
    return peaks


def workload_of(params: Mapping[str, str]) -> Workload:
    """Return what a run trained, from its parameters as text.

    Raises
    ------
    ParamsError
        A key is missing or unknown: the run was made by another version.
    """
    families = cast(tuple[Family, ...], tuple(params["features.families"].split(", ")))
    return Workload(
        model=parse(_section(params, "model"), ModelConfig, "model"),
        recipe=Recipe(
            train=parse(_section(params, "train"), TrainConfig, "train"),
            accum=parse(_section(params, "accum"), AccumConfig, "accum"),
            seed=0,
        ),
        num_features=len(select(families)),
        length=int(params["windows.length"]),
    )


def _model(
    workload: Workload, precision: Name, known: list[tuple[Workload, Name, MemoryModel]]
) -> MemoryModel:
    copies = workload.recipe.train.ema_half_life is None  # all that memory takes from the recipe
    for other, name, model in known:
        same = (other.model, other.num_features, other.length) == (
            workload.model, workload.num_features, workload.length,
        )  # fmt: skip
        if same and name == precision and (other.recipe.train.ema_half_life is None) == copies:
            return model
    model = predict(workload, precision)
    known.append((workload, precision, model))
    return model


def _section(params: Mapping[str, str], name: str) -> dict[str, Any]:
    yaml = YAML(typ="safe", pure=True)
    keys: Sequence[str] = [key for key in params if key.startswith(f"{name}.")]
    return {key.removeprefix(f"{name}."): yaml.load(params[key]) for key in keys}
