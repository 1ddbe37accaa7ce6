"""A trained model on disk: weights as safetensors, everything else as JSON; no pickle."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import safetensors.torch
from safetensors import SafetensorError
from torch import Tensor

from candlecast.errors import DataError, ParamsError
from candlecast.files import replacing, write_text
from candlecast.models.config import ModelConfig
from candlecast.models.hybrid import Hybrid, build_model
from candlecast.params import parse

WEIGHTS = "model.safetensors"
DESCRIPTION = "model.json"
REMEDY = "make it again with: dvc repro train"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelDescription:
    """What the weights belong to."""

    model: ModelConfig
    feature_names: tuple[str, ...]  # in input order
    length: int  # bars in a window


def save_model(folder: Path, state: dict[str, Tensor], description: ModelDescription) -> None:
    """Write weights (a model's state_dict) and description; the same model gives the same bytes."""
    data = safetensors.torch.save({name: tensor.detach().contiguous() for name, tensor in state.items()})
    with replacing(folder / WEIGHTS) as temporary:
        temporary.write_bytes(data)
    write_text(folder / DESCRIPTION, json.dumps(asdict(description), indent=2) + "\n")


def read_description(folder: Path) -> ModelDescription:
    """Return what the weights in `folder` belong to, or raise `DataError` naming the file."""
    path = folder / DESCRIPTION
    try:
        values: Any = json.loads(path.read_text(encoding="utf-8"))
        description: ModelDescription = parse(values, ModelDescription, DESCRIPTION)
    except (OSError, ValueError, ParamsError) as error:
        raise DataError(f"{path}: cannot be read ({error}); {REMEDY}") from None
    return description


def load_model(folder: Path) -> Hybrid:
    """Return the model saved in `folder`, on the CPU and in evaluation mode, or raise `DataError`."""
    description = read_description(folder)
    model = build_model(description.model, len(description.feature_names), description.length)
    path = folder / WEIGHTS
    try:
        model.load_state_dict(safetensors.torch.load_file(path))
    except (OSError, SafetensorError, RuntimeError) as error:
        raise DataError(f"{path}: cannot be read ({str(error).splitlines()[0]}); {REMEDY}") from None
    return model.eval()
