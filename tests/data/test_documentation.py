import re
from dataclasses import fields
from pathlib import Path

import pytest

from candlecast.data.config import FilesConfig
from candlecast.data.quality import CHECKS

TEXT = (Path(__file__).parents[2] / "docs" / "market-data.md").read_text()
TESTS = "\n".join(path.read_text() for path in Path(__file__).parent.glob("test_*.py"))


@pytest.mark.parametrize("name", sorted(set(re.findall(r"`(test_\w+)`", TEXT))))
def test_every_test_that_the_document_names_exists(name: str) -> None:
    assert f"def {name}(" in TESTS


def test_every_check_is_described() -> None:
    assert re.findall(r"^\| `(\w+)` \|", TEXT, re.MULTILINE)[-len(CHECKS) :] == list(CHECKS)


@pytest.mark.parametrize("key", ["encoding", "decimal", "date_format", "timezone", "columns", "close"])
def test_every_key_that_the_document_asks_for_exists(key: str) -> None:
    assert f"`{key}` is asked for" in TEXT
    assert key in {field.name for field in fields(FilesConfig)}
