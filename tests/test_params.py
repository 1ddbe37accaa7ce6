import contextlib
import datetime
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from candlecast.errors import ParamsError
from candlecast.params import load_params, parse, read_params


@dataclass(frozen=True, kw_only=True, slots=True)
class Inner:
    size: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Outer:
    rate: float
    count: int
    name: str
    flag: bool
    day: datetime.date
    mode: Literal["a", "b"]
    names: tuple[str, ...]
    limit: int | None
    inner: Inner


GOOD = {
    "rate": 3e-4,
    "count": 2,
    "name": "x",
    "flag": False,
    "day": datetime.date(2020, 1, 2),
    "mode": "a",
    "names": ["p", "q"],
    "limit": None,
    "inner": {"size": 3},
}


def refusal(change: dict[str, object], without: str | None = None) -> str:
    values = {key: value for key, value in {**GOOD, **change}.items() if key != without}
    with pytest.raises(ParamsError) as error:
        parse(values, Outer, "outer")
    assert "\n" not in str(error.value)
    return str(error.value)


def test_a_sound_section_becomes_a_typed_record() -> None:
    record = parse(GOOD, Outer, "outer")
    assert record == Outer(
        rate=3e-4,
        count=2,
        name="x",
        flag=False,
        day=datetime.date(2020, 1, 2),
        mode="a",
        names=("p", "q"),
        limit=None,
        inner=Inner(size=3),
    )


def test_a_whole_number_serves_as_a_float_but_not_the_reverse() -> None:
    assert parse(3, float, "key") == 3.0
    assert refusal({"count": 2.0}) == "outer.count: expected int, found 2.0 (float)".replace(
        "int", "a whole number", 1
    )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"rate": "3e-4"}, "outer.rate: expected a number, found '3e-4' (str)"),
        ({"rate": float("inf")}, "outer.rate: expected a finite number, found inf"),
        ({"rate": float("nan")}, "outer.rate: expected a finite number, found nan"),
        ({"rate": 10**400}, "outer.rate: the number is too large"),
        ({"count": 10**30}, f"outer.count: {10**30} is too large; at most 2147483647"),
        ({"count": True}, "outer.count: expected a whole number, found True (bool)"),
        ({"flag": 1}, "outer.flag: expected true or false, found 1 (int)"),
        ({"mode": "c"}, "outer.mode: expected one of a, b, found 'c'"),
        ({"names": "pq"}, "outer.names: expected a list, found 'pq'"),
        ({"names": ["p", 1]}, "outer.names[1]: expected text, found 1 (int)"),
        ({"limit": "x"}, "outer.limit: expected a whole number or null, found 'x'"),
        ({"inner": {"size": "x"}}, "outer.inner.size: expected a whole number, found 'x' (str)"),
        ({"inner": 4}, "outer.inner: expected keys and values, found 4"),
        ({"day": "2020-02-30"}, "outer.day: expected a date such as 2013-03-01, found '2020-02-30'"),
    ],
)
def test_a_wrong_type_is_named_with_its_key(change: dict[str, object], message: str) -> None:
    assert refusal(change) == message


def test_a_missing_key_is_named() -> None:
    assert refusal({}, without="rate") == "outer.rate: missing; add it to outer"


def test_an_unknown_key_is_named_with_the_known_ones() -> None:
    assert refusal({"rates": 1}).startswith("outer.rates: unknown key; outer has rate, count")


def test_a_number_written_3e_4_is_read_as_dvc_reads_it(tmp_path: Path) -> None:
    # PyYAML, which follows YAML 1.1, makes text of this; DVC and this reader do not.
    path = tmp_path / "params.yaml"
    path.write_text("train: {size: 3e-4}\nflag: no\n")
    assert read_params(path) == {"train": {"size": 0.0003}, "flag": "no"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [("a: [1", "not valid YAML"), ("- 1\n- 2\n", "expected sections, found list"), ("", "expected sections")],
)
def test_a_file_that_holds_no_sections_is_refused_in_one_line(
    tmp_path: Path, text: str, expected: str
) -> None:
    path = tmp_path / "params.yaml"
    path.write_text(text)
    with pytest.raises(ParamsError, match=expected) as error:
        read_params(path)
    assert "\n" not in str(error.value)


def test_a_file_in_another_encoding_is_refused_in_one_line(tmp_path: Path) -> None:
    path = tmp_path / "params.yaml"
    path.write_bytes("name: M\u00fcnchen\n".encode("cp1252"))
    with pytest.raises(ParamsError, match=r"params.yaml: not UTF-8 text .* save it as UTF-8"):
        read_params(path)


def test_a_missing_file_and_a_missing_section_say_what_to_do(tmp_path: Path) -> None:
    path = tmp_path / "params.yaml"
    with pytest.raises(ParamsError, match="no such file; run from the repository's root"):
        read_params(path)
    path.write_text("seed: 1\n")
    with pytest.raises(ParamsError, match=r"model: missing from .*; add this section"):
        load_params("model", Inner, path)
    assert load_params("seed", int, path) == 1


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.dates(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@given(key=st.sampled_from(sorted(GOOD)), value=JSON)
def test_whatever_stands_at_a_key_is_accepted_or_refused_with_its_name(key: str, value: object) -> None:
    with contextlib.suppress(ParamsError):
        parse({**GOOD, key: value}, Outer, "outer")
        return
    with pytest.raises(ParamsError, match=rf"^outer\.{key}"):
        parse({**GOOD, key: value}, Outer, "outer")
