"""Broken and strange files: what a fuzzer feeds the reader of files.

Run as a script, `python tests/data/mutations.py MINUTES`, it goes on for so many minutes.
"""

import sys
import tempfile
import time
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

sys.path.insert(0, str(Path(__file__).parents[1]))  # as pytest does

from data.files_by_hand import HEADER, PLAIN, TEXT, read
from data.vendors import VENDORS

from candlecast.errors import CandlecastError

SEEDS = [text.encode() for text in (TEXT, HEADER, *(text for text, _ in VENDORS.values()))]
PIECES = [
    *(bytes([mark]) for mark in b",;\t|\"\n\r\0\xff-$ %KB'\x1c\x0c"),
    *(
        b"\r\n",
        b"\xef\xbb\xbf",
        b"\xff\xfe",
        "١٢٣".encode(),
        "\u00a0".encode(),
        "½".encode(),
        "\u2028".encode(),
    ),
    *b"null nan inf -inf 1e308 1e999 1,234 1.234.567 99999999999999999999 1_0 0x10".split(),
    *b"2020-02-30 0000-00-00 9999-12-31 01/02/2020 13/13/2020 1577923200 -1577923200 20200102".split(),
    *b"2020-01-02T00:00:00+99:99 Date Close ticker <PER>".split(),
    b"Jan 02, 2020",
]
NAMES = ["AAA.csv", "AAA.csv.gz", "AAA.zip", "AAA.parquet", "AAA.feather"]
_WORDS = "Date Close close nothing utf-16 cp1252 UTC Europe/London %d/%m/%Y % %Q %H"
TEXTS = st.none() | st.sampled_from(["", *_WORDS.split()])


@st.composite
def mutated(draw: st.DrawFn) -> bytes:
    """A vendor's file with some of its bytes taken out, doubled, or replaced by awkward ones."""
    content = draw(st.sampled_from(SEEDS))
    for _ in range(draw(st.integers(0, 6))):
        start = draw(st.integers(0, len(content)))
        end = min(len(content), start + draw(st.integers(0, 12)))
        middle = draw(st.sampled_from(PIECES) | st.binary(max_size=4) | st.just(content[start:end] * 2))
        content = content[:start] + middle + content[end:]
    return content


@st.composite
def keys(draw: st.DrawFn) -> dict[str, Any]:
    """Some of `data.files`, sensible or not."""
    chosen = draw(st.lists(st.sampled_from([field.name for field in fields(PLAIN)]), max_size=2, unique=True))
    special = {
        "decimal": st.sampled_from([".", ",", None]),
        "delimiter": st.sampled_from([",", ";", "x", " ", "\n", '"', None]),
        "columns": st.none() | st.lists(st.sampled_from(["date", "open", "x"]), max_size=8).map(tuple),
    }
    return {name: draw(special.get(name, TEXTS)) for name in chosen}


def reads_or_refuses(folder: Path, name: str, content: bytes, options: dict[str, Any]) -> None:
    """Whatever a file holds, it gives bars or one line of ours."""
    for old in folder.iterdir():
        old.unlink()
    (folder / name).write_bytes(content)
    try:
        replace(PLAIN, **options)
        outcome: Any = read(folder, **options).bars["date"].null_count()
    except CandlecastError as error:
        outcome = str(error)
    assert outcome == 0 or len(outcome.splitlines()) == 1, outcome


def main(minutes: float) -> None:
    """Go on until the time is up or a fault is found."""
    folder = Path(tempfile.mkdtemp())
    end = time.monotonic() + 60 * minutes
    count = 0

    @settings(max_examples=2000, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(st.sampled_from(["AAA.csv"] * 20 + NAMES), mutated() | st.binary(max_size=200), keys())
    def run(name: str, content: bytes, options: dict[str, Any]) -> None:
        nonlocal count
        count += 1
        reads_or_refuses(
            folder, name if name.endswith("csv") or count % 10 == 0 else "AAA.csv", content, options
        )

    while time.monotonic() < end:
        run()
    print(f"{count} files, each read or refused in one line")


if __name__ == "__main__":
    main(float(sys.argv[1]))
