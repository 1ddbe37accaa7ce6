"""A study's cells: one training each, with its name and every parameter it overrides."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, get_type_hints

from candlecast.errors import ParamsError
from candlecast.params import parse
from candlecast.settings import Settings
from candlecast.studies.study import Override, Overrides, Study
from candlecast.tracking.identity import short_number

Phase = Literal["tuning", "confirmation"]

_WORDS: Final = ("null", "true", "false", "nan", "inf")  # that Hydra takes for other than text


@dataclass(frozen=True, slots=True)
class Cell:
    """One training of a study, which DVC knows as the experiment `name`."""

    study: str
    arm: str
    phase: Phase
    value: float  # of the tuned parameter
    seed: int
    name: str
    overrides: Overrides

    @property
    def targets(self) -> tuple[str, ...]:
        """Return the DVC stages to run: none means all, and only the confirmation sees the test span."""
        return ("train",) if self.phase == "tuning" else ()

    def assignments(self) -> list[str]:
        """Return the overrides as `dvc exp run -S` takes them."""
        return [f"{key}={written(value)}" for key, value in self.overrides.items()]


def tuning_cells(study: Study) -> list[Cell]:
    """Return tuned arms x values x tuning seeds, a whole round of a seed first: a stop then leaves pairs."""
    return [
        _cell(study, arm, "tuning", value, seed)
        for seed in study.tuning.seeds
        for value in study.tuning.values
        for arm in study.tuned_arms
    ]


def confirmation_cells(study: Study, chosen: Mapping[str, float]) -> list[Cell]:
    """Return each arm at its chosen value, over all paired seeds."""
    return [
        _cell(study, arm, "confirmation", chosen[arm], seed) for seed in study.seeds for arm in study.arms
    ]


def _cell(study: Study, arm: str, phase: Phase, value: float, seed: int) -> Cell:
    name = f"{study.name}-{arm}-{study.tuning.label}{short_number(value)}-s{seed}"
    overrides: dict[str, Override] = {**study.settings, **study.budget, **study.arms[arm].overrides}
    overrides |= {study.tuning.key: value, "seed": seed}
    return Cell(study.name, arm, phase, value, seed, name, overrides)


def written(value: Override) -> str:
    """Return a value in the grammar of `-S`, which is Hydra's.

    >>> [written(value) for value in (None, True, 0.001, "synthetic", "2012-11-01", (1, "a b"))]
    ['null', 'true', '0.001', 'synthetic', '"2012-11-01"', '[1,"a b"]']
    """
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        return f"[{','.join(map(written, value))}]"
    plain = not isinstance(value, str) or re.fullmatch(r"[A-Za-z_]\w*", value)
    if plain and str(value).lower() not in _WORDS:
        return str(value)
    # To Hydra a backslash is one unless a quote follows it.
    return (
        '"'
        + re.sub(r'(\\*)("|$)', lambda end: end[1] * 2 + ("\\" if end[2] else "") + end[2], str(value))
        + '"'
    )


def apply(params: Mapping[str, Any], overrides: Overrides) -> dict[str, Any]:
    """Return the sections of the parameters with the overrides in place.

    Raises
    ------
    ParamsError
        An override names a key that the parameters do not have.
    """
    changed = {
        key: apply(value, {}) if isinstance(value, Mapping) else value for key, value in params.items()
    }
    for key, value in overrides.items():
        *sections, last = key.split(".")
        place: Any = changed
        for section in sections:
            place = place.get(section) if isinstance(place, dict) else None
        if not isinstance(place, dict) or last not in place:
            raise ParamsError(f"{key}: not a key of params.yaml")
        place[last] = list(value) if isinstance(value, tuple) else value
    return changed


def check_cell(cell: Cell, params: Mapping[str, Any]) -> None:
    """Raise `ParamsError`, naming the arm, unless the cell's parameters are sound, alone and together."""
    hints = get_type_hints(Settings)
    try:
        resolved = apply(params, cell.overrides)
        Settings(**{section: parse(resolved.get(section), hints[section], section) for section in hints})
    except ParamsError as error:
        raise ParamsError(f"arms.{cell.arm}: {error}") from None
