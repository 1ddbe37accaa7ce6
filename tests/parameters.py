"""The committed parameters with some keys set, in a file of one's own."""

from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

ROOT = Path(__file__).parent.parent


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
