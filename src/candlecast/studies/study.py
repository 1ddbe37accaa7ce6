"""A study: one YAML that states question, arms, seeds, budget and decision rule before anything runs."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

from candlecast.errors import ParamsError
from candlecast.params import parse, read_params, require

Override = str | int | float | bool | None | tuple[Any, ...]
Overrides = Mapping[str, Override]  # dotted key of params.yaml -> value

TUNING_METRIC: Final = "val/best_loss"  # what chooses an arm's value; lower is better
FEWEST_SEEDS: Final = 5
BUDGETS: Final = ("epochs", "updates", "samples", "seconds")
_NAME: Final = re.compile(r"[A-Za-z0-9]+(-[A-Za-z0-9]+)*")
_KEY: Final = re.compile(r"[a-z]\w*(\.[a-z]\w*)+")


@dataclass(frozen=True, kw_only=True, slots=True)
class Arm:
    """One way of training that the study sets against others."""

    description: str
    overrides: Overrides
    tuned_as: str | None = (
        None  # the arm whose tuned value it takes over: an identity control has none of its own
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class Tuning:
    """The nuisance parameter, tuned for each arm alike on validation, over seeds used for nothing else."""

    key: str
    values: tuple[float, ...]  # rising
    seeds: tuple[int, ...]

    def __post_init__(self) -> None:
        """Refuse a grid in which no value has a neighbour on both sides."""
        rising = all(low < high for low, high in zip(self.values, self.values[1:], strict=False))
        require(
            len(self.values) >= 3 and rising,
            "tuning.values: give at least three, rising, so that an optimum can lie inside",
        )
        require(len(self.seeds) >= 1, "tuning.seeds: give at least one")

    @property
    def label(self) -> str:
        """Return the word that stands for the key in a cell's name: `lr` for train.peak_lr."""
        last = self.key.rpartition(".")[2]
        return "lr" if last == "peak_lr" else last.replace("_", "")


@dataclass(frozen=True, kw_only=True, slots=True)
class Decision:
    """The rule that answers the question, from differences paired by seed.

    `arm` is `better` than `against` when the whole interval of the improvement lies above smallest_effect,
    `worse` when it lies below minus that, `equivalent` when it lies between, otherwise `undecided`.
    """

    metric: str  # as MLflow names it
    direction: Literal["lower", "higher"]  # which is better
    arm: str
    against: str
    smallest_effect: float  # that matters, in the metric's unit
    confidence: float  # of the interval

    def __post_init__(self) -> None:
        """Refuse an effect of nothing and a confidence that is none."""
        require(self.smallest_effect > 0, "decision.smallest_effect: must be above 0")
        require(0.5 <= self.confidence < 1, "decision.confidence: must be at least 0.5 and below 1")
        require(self.arm != self.against, f"decision.against: {self.against} is set against itself")

    def verdict(self, low: float, high: float) -> Literal["better", "worse", "equivalent", "undecided"]:
        """Judge an interval of the improvement: positive where `arm` has the better metric."""
        if low > self.smallest_effect:
            return "better"
        if high < -self.smallest_effect:
            return "worse"
        inside = -self.smallest_effect <= low and high <= self.smallest_effect
        return "equivalent" if inside else "undecided"


@dataclass(frozen=True, kw_only=True, slots=True)
class Control:
    """Two arms that must coincide, seed by seed, or the study measures something else than it says."""

    metric: str
    arm: str
    against: str
    tolerance: float  # largest difference of a pair, in the metric's unit


@dataclass(frozen=True, kw_only=True, slots=True)
class Study:
    """What is asked, predicted and compared, and by which rule it is decided."""

    name: str
    question: str
    prediction: str  # written before running
    arms: Mapping[str, Arm]
    tuning: Tuning
    seeds: tuple[int, ...]  # of the confirmation, the same for every arm
    settings: Overrides  # the same in every cell
    budget: Overrides  # all four of train's budgets, three of them None
    decision: Decision
    controls: tuple[Control, ...]
    threads: (
        int  # that a cell computes with, however many run beside it: sums by other numbers round otherwise
    )

    def __post_init__(self) -> None:
        """Refuse names that DVC cannot carry, and parts that contradict each other."""
        require(bool(_NAME.fullmatch(self.name)), f"name: {self.name!r} is not letters, digits and hyphens")
        require(len(self.arms) >= 2, "arms: a comparison needs at least two")
        require(
            len(set(self.seeds)) == len(self.seeds) >= FEWEST_SEEDS,
            f"seeds: give at least {FEWEST_SEEDS} different ones",
        )
        require(self.threads >= 1, "threads: must be at least 1")
        both = sorted({*self.seeds} & {*self.tuning.seeds})
        require(
            not both,
            f"seeds: {', '.join(map(str, both))} also tuned; a seed that chose a value cannot confirm it",
        )
        for where, rule in [("decision", self.decision)] + [
            (f"controls[{index}]", control) for index, control in enumerate(self.controls)
        ]:
            for name in (rule.arm, rule.against):
                require(name in self.arms, f"{where}: no arm {name}; there are {', '.join(self.arms)}")
        self._check_keys()
        self._check_tuned()

    @property
    def tuned_arms(self) -> tuple[str, ...]:
        """Return the arms that look for a value of their own."""
        return tuple(name for name, arm in self.arms.items() if arm.tuned_as is None)

    def _check_tuned(self) -> None:
        for name, arm in self.arms.items():
            require(
                arm.tuned_as is None or arm.tuned_as in self.tuned_arms,
                f"arms.{name}.tuned_as: {arm.tuned_as} is no arm with a value of its own; there are "
                f"{', '.join(self.tuned_arms)}",
            )

    def _check_keys(self) -> None:
        taken = {"seed": "seeds", self.tuning.key: "tuning", **dict.fromkeys(self.budget, "budget")}
        parts = {"settings": self.settings} | {
            f"arms.{name}.overrides": arm.overrides for name, arm in self.arms.items()
        }
        for part, overrides in parts.items():
            for key in overrides:
                require(key not in taken, f"{part}.{key}: set by {taken.get(key)}; leave it out here")
        for name, arm in self.arms.items():
            require(bool(_NAME.fullmatch(name)), f"arms.{name}: letters, digits and hyphens only")
            both = sorted(self.settings.keys() & arm.overrides.keys())
            require(not both, f"arms.{name}.overrides.{''.join(both[:1])}: already fixed in settings")


def load_study(path: Path) -> Study:
    """Return the study that a file states, what it extends included.

    Raises
    ------
    ParamsError
        In one line, naming file and key.
    """
    values = _read(path, ())
    try:
        return _study(values)
    except ParamsError as error:
        raise ParamsError(f"{path}: {error}") from None


def _read(path: Path, above: tuple[Path, ...]) -> dict[str, Any]:
    values = read_params(path)
    parent = values.pop("extends", None)
    if parent is None:
        return values
    file = path.parent / str(parent)
    if file in (*above, path):
        raise ParamsError(f"{path}: extends: {parent} extends this file in turn")
    if not file.is_file():
        raise ParamsError(f"{path}: extends: {file} is not there")
    return _merged(_read(file, (*above, path)), values)


def _merged(lower: Mapping[str, Any], upper: Mapping[str, Any]) -> dict[str, Any]:
    merged = dict(lower)
    for key, value in upper.items():
        both = isinstance(value, Mapping) and isinstance(lower.get(key), Mapping)
        merged[key] = _merged(lower[key], value) if both else value
    return merged


_PARTS: Final[Mapping[str, Any]] = {
    "name": str,
    "question": str,
    "prediction": str,
    "tuning": Tuning,
    "seeds": tuple[int, ...],
    "decision": Decision,
    "controls": tuple[Control, ...],
    "threads": int,
}
_KEYS: Final = (*_PARTS, "arms", "settings", "budget")


def _study(values: dict[str, Any]) -> Study:
    values.setdefault("controls", [])
    values.setdefault("settings", {})
    values.setdefault("threads", 1)
    for key in values:
        require(key in _KEYS, f"{key}: unknown key; a study has {', '.join(_KEYS)}")
    for key in _KEYS:
        require(key in values, f"{key}: missing; add it")
    arms = {
        str(name): _arm(value, f"arms.{name}") for name, value in _mapping(values["arms"], "arms").items()
    }
    parsed = {key: parse(values[key], expected, key) for key, expected in _PARTS.items()}
    settings = _overrides(values["settings"], "settings")
    return Study(arms=arms, settings=settings, budget=_budget(values["budget"]), **parsed)


def _arm(value: Any, key: str) -> Arm:
    arm = _mapping(value, key)
    for name in arm:
        known = ("description", "overrides", "tuned_as")
        require(name in known, f"{key}.{name}: unknown; it has {', '.join(known)}")
    require("description" in arm, f"{key}.description: missing; say what the arm stands for")
    description = parse(arm["description"], str, f"{key}.description")
    return Arm(
        description=description,
        overrides=_overrides(arm.get("overrides", {}), f"{key}.overrides"),
        tuned_as=parse(arm.get("tuned_as"), str | None, f"{key}.tuned_as"),
    )


def _budget(value: Any) -> Overrides:
    given = _mapping(value, "budget")
    require(
        len(given) == 1 and set(given) <= set(BUDGETS),
        f"budget: give exactly one of {', '.join(BUDGETS)}, found {', '.join(map(str, given)) or 'none'}",
    )
    return {f"train.{name}": given.get(name) for name in BUDGETS}


def _overrides(value: Any, key: str) -> dict[str, Override]:
    overrides: dict[str, Override] = {}
    for name, item in _mapping(value, key).items():
        require(
            isinstance(name, str) and bool(_KEY.fullmatch(name)),
            f"{key}.{name}: expected a dotted key of params.yaml such as model.width",
        )
        require(not isinstance(item, Mapping), f"{key}.{name}: name each key in full, with dots")
        overrides[name] = tuple(item) if isinstance(item, list) else item
    return overrides


def _mapping(value: Any, key: str) -> Mapping[Any, Any]:
    require(isinstance(value, Mapping), f"{key}: expected keys and values, found {value!r}")
    mapping: Mapping[Any, Any] = value
    return mapping
