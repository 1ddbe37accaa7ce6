"""Parameters for tests: the committed ones with some keys set, and a model that trains in no time."""

from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from candlecast.models.config import ModelConfig

ROOT = Path(__file__).parent.parent
SMALL_MODEL = ModelConfig(
    width=8,
    tcn_blocks=2,
    kernel_size=3,
    layers=1,
    heads=2,
    dropout=0.1,
    norm="layer",
    checkpoint_activations=False,
)


def write_params(path: Path, overrides: dict[str, Any]) -> Path:
    """Write params.yaml's values to `path` with dotted keys, such as accum.steps, replaced."""
    values = YAML(typ="safe").load((ROOT / "params.yaml").read_text())
    for key, value in overrides.items():
        *sections, name = key.split(".")
        target = values
        for section in sections:
            target = target[section]
        target[name] = value
    with path.open("w") as file:
        YAML().dump(values, file)
    return path
