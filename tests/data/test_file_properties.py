import datetime
import math
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from data.files_by_hand import read
from data.mutations import NAMES, keys, mutated, reads_or_refuses
from hypothesis import given, settings
from hypothesis import strategies as st

from candlecast.data.source import RAW_BARS

prices = st.floats(1e-6, 1e9)
rows = st.lists(
    st.tuples(
        st.dates(datetime.date(1800, 1, 1), datetime.date(2200, 12, 31)),
        *(prices for _ in range(5)),
        st.integers(0),
    ),
    min_size=1,
    max_size=12,
)
dialects = st.fixed_dictionaries(
    {
        "delimiter": st.sampled_from([",", ";", "\t", "|"]),
        "date": st.sampled_from(["%Y-%m-%d", "%Y/%m/%d", "%Y%m%d", "%b %d, %Y", "%d-%b-%Y", "%d.%m.%Y"]),
        "decimal": st.sampled_from([".", ","]),
        "grouped": st.booleans(),
        "dollars": st.booleans(),
        "end": st.sampled_from(["\n", "\r\n"]),
        "case": st.sampled_from([str.lower, str.upper, str.title]),
        "encoding": st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]),
    }
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("files")


def written(bars: list[tuple[Any, ...]], dialect: dict[str, Any]) -> str:
    """Write bars as a vendor with these habits would."""
    names = ("date", "open", "high", "low", "close", "adj close", "volume")
    lines = [[dialect["case"](name) for name in names]]
    for date, *numbers in bars:
        cells = [date.strftime(dialect["date"])]
        for number in numbers:
            cell = f"{number:{',' if dialect['grouped'] else ''}.9f}"
            if dialect["decimal"] == ",":
                cell = cell.translate(str.maketrans(",.", ".,"))
            cells.append(f"${cell}" if dialect["dollars"] else cell)
        lines.append(cells)
    return "".join(dialect["delimiter"].join(f'"{cell}"' for cell in line) + dialect["end"] for line in lines)


@settings(deadline=None)
@given(rows, dialects)
def test_bars_written_in_any_dialect_are_read_back(
    folder: Path, bars: list[tuple[Any, ...]], dialect: dict[str, Any]
) -> None:
    (folder / "AAA.csv").write_bytes(written(bars, dialect).encode(dialect["encoding"]))
    keys_needed = {"decimal": dialect["decimal"]}
    if dialect["date"] == "%d.%m.%Y":
        keys_needed["date_format"] = dialect["date"]
    found = read(folder, start=datetime.date(1800, 1, 1), end=datetime.date(2200, 12, 31), **keys_needed)
    assert found.bars.height == len(bars)
    for row, expected in zip(found.bars.rows(), bars, strict=True):
        assert row[0] == expected[0]
        assert all(
            math.isclose(value, true, rel_tol=1e-9, abs_tol=1e-9)
            for value, true in zip(row[1:], expected[1:], strict=True)
        )


@settings(deadline=None)
@given(rows)
def test_parquet_is_read_back_to_the_bit(folder: Path, bars: list[tuple[Any, ...]]) -> None:
    frame = pl.DataFrame([(*bar[:6], float(bar[6])) for bar in bars], schema=RAW_BARS, orient="row")
    frame.write_parquet(folder / "BBB.parquet")
    found = read(folder, "BBB", start=datetime.date(1800, 1, 1), end=datetime.date(2200, 12, 31))
    assert found.bars.equals(frame)


@settings(max_examples=400, deadline=None)
@given(st.sampled_from(NAMES), mutated() | st.binary(max_size=200), keys())
def test_whatever_a_file_holds_it_is_read_or_refused_in_one_line(
    folder: Path, name: str, content: bytes, options: dict[str, Any]
) -> None:
    reads_or_refuses(folder, name, content, options)
