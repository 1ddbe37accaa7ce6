"""Write docs/indicators.md from the catalogue of indicators."""

from pathlib import Path

from candlecast.features.document import catalogue_page
from candlecast.files import write_text

if __name__ == "__main__":
    write_text(Path(__file__).parents[1] / "docs/indicators.md", catalogue_page())
