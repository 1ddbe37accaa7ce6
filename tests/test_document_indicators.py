"""The page about the indicators: in step with the catalogue, and readable as tables."""

from pathlib import Path

from document_indicators import catalogue_page

from candlecast.features.catalogue import INDICATORS

PAGE = Path(__file__).parents[1] / "docs/indicators.md"


def test_the_committed_page_is_what_the_catalogue_says() -> None:
    assert PAGE.read_text(encoding="utf-8") == catalogue_page(), "run python scripts/document_indicators.py"


def test_every_indicator_is_one_row_of_five_cells() -> None:
    rows = [line for line in catalogue_page().splitlines() if line.startswith("| `")]
    assert [row.split("`")[1] for row in rows] == [indicator.name for indicator in INDICATORS]
    assert {row.replace("\\|", "").count("|") for row in rows} == {6}
