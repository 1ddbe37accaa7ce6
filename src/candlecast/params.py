"""A section of the parameters file as a frozen, fully typed record.

YAML 1.2 through ruamel.yaml, as DVC reads it: PyYAML follows YAML 1.1, where `3e-4` is text.
"""

import datetime
import math
import types
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, Final, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from candlecast.errors import ParamsError

Config = TypeVar("Config")

LARGEST_WHOLE: Final = 2**31 - 1  # what the arrays and frames behind every count hold


def read_params(path: Path) -> dict[str, Any]:
    """Return the whole file as plain Python values, or raise `ParamsError` naming the file."""
    try:
        values = YAML(typ="safe", pure=True).load(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ParamsError(
            f"{path}: no such file; run from the repository's root or name it with --params"
        ) from None
    except UnicodeDecodeError as error:
        raise ParamsError(
            f"{path}: not UTF-8 text ({error.reason} at byte {error.start}); save it as UTF-8"
        ) from None
    except YAMLError as error:
        raise ParamsError(f"{path}: not valid YAML: {' '.join(str(error).split())}") from None
    if not isinstance(values, dict):
        raise ParamsError(f"{path}: expected sections, found {type(values).__name__}")
    return values


def load_params(section: str, config: type[Config], path: Path = Path("params.yaml")) -> Config:
    """Return one section as `config`, which is a dataclass or a plain type such as `int`.

    Raises
    ------
    ParamsError
        A key is missing, unknown, of the wrong type, or contradicts another.
    """
    values = read_params(path)
    if section not in values:
        raise ParamsError(f"{section}: missing from {path}; add this section")
    parsed: Config = parse(values[section], config, section)
    return parsed


def parse(value: Any, expected: Any, key: str) -> Any:
    """Return `value` as the `expected` type; `key` is its full dotted name, for the error."""
    if is_dataclass(expected) and isinstance(expected, type):
        return _parse_record(value, expected, key)
    origin, arguments = get_origin(expected), get_args(expected)
    if origin in (Union, types.UnionType):
        return _parse_union(value, arguments, key)
    if origin is Literal:
        if value in arguments and type(value) in {type(argument) for argument in arguments}:
            return value
        raise ParamsError(f"{key}: expected one of {', '.join(map(str, arguments))}, found {value!r}")
    if origin is tuple:
        if not isinstance(value, list | tuple):
            raise ParamsError(f"{key}: expected a list, found {value!r}")
        return tuple(parse(item, arguments[0], f"{key}[{index}]") for index, item in enumerate(value))
    return _parse_scalar(value, expected, key)


def _parse_record(value: Any, expected: type, key: str) -> Any:
    if not isinstance(value, Mapping):
        raise ParamsError(f"{key}: expected keys and values, found {value!r}")
    hints = get_type_hints(expected)
    names = [field.name for field in fields(expected)]
    for name in value:
        if name not in names:
            raise ParamsError(f"{key}.{name}: unknown key; {key} has {', '.join(names)}")
    for name in names:
        if name not in value:
            raise ParamsError(f"{key}.{name}: missing; add it to {key}")
    return expected(**{name: parse(value[name], hints[name], f"{key}.{name}") for name in names})


def _parse_union(value: Any, options: tuple[Any, ...], key: str) -> Any:
    if value is None and type(None) in options:
        return None
    for option in options:
        if option is type(None):
            continue
        try:
            return parse(value, option, key)
        except ParamsError:
            if is_dataclass(option):
                raise
    raise ParamsError(f"{key}: expected {' or '.join(_name(option) for option in options)}, found {value!r}")


def _parse_scalar(value: Any, expected: Any, key: str) -> Any:
    if expected is float and isinstance(value, int) and not isinstance(value, bool):
        value = _as_float(value, key)
    if isinstance(value, float) and not math.isfinite(value):
        raise ParamsError(f"{key}: expected a finite number, found {value}")
    if expected is datetime.date and isinstance(value, str):
        try:
            return datetime.date.fromisoformat(value)
        except ValueError:
            raise ParamsError(f"{key}: expected a date such as 2013-03-01, found {value!r}") from None
    if isinstance(value, int) and abs(value) > LARGEST_WHOLE:
        raise ParamsError(f"{key}: {value} is too large; at most {LARGEST_WHOLE}")
    exact = type(value) is expected  # bool is an int and datetime is a date to isinstance, not to a reader
    if not exact:
        raise ParamsError(f"{key}: expected {_name(expected)}, found {value!r} ({type(value).__name__})")
    return value


def _as_float(value: int, key: str) -> float:
    try:
        return float(value)
    except OverflowError:
        raise ParamsError(f"{key}: the number is too large") from None


def _name(expected: Any) -> str:
    if expected is type(None):
        return "null"
    names = {
        int: "a whole number",
        float: "a number",
        str: "text",
        bool: "true or false",
        datetime.date: "a date",
    }
    if get_origin(expected) is Literal:
        return " or ".join(map(str, get_args(expected)))
    return names.get(expected, getattr(expected, "__name__", str(expected)))


def require(condition: bool, message: str) -> None:
    """Raise `ParamsError(message)` unless `condition`; the message begins with the key."""
    if not condition:
        raise ParamsError(message)


def require_at_most(record: object, section: str, **limits: int) -> None:
    """Refuse sizes that no machine carries, before anything is allocated for them."""
    for name, limit in limits.items():
        value = getattr(record, name)
        require(
            not isinstance(value, int) or value <= limit,
            f"{section}.{name}: {value} is too large; at most {limit}",
        )
