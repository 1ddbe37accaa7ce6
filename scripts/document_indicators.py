"""Write docs/indicators.md, the catalogue of indicators as a page to read."""

from pathlib import Path
from typing import Final

from candlecast.features.catalogue import INDICATORS
from candlecast.features.indicator import Indicator
from candlecast.files import write_text

_FAMILIES: Final = {
    "trend": "Trend",
    "momentum": "Momentum",
    "volatility": "Volatility",
    "volume": "Volume and candle shape",
}

_INTRODUCTION: Final = """\
# The 32 indicators

Written by `python scripts/document_indicators.py` from the catalogue in `src/candlecast/features/`: change
that, not this page.

Each is one number a bar, computed for each history (a ticker between two long gaps) by itself:

- **causal**: row t uses bars up to and including t. Cutting off or damaging what comes later changes no bit.
- **scale-free**: multiplying every price, or every volume, by a constant changes nothing, so a split or a
  dividend in the future cannot show in the past's features.
- **forgetful**: none sums up from the first row. Recursive averages (EMA, Wilder) forget their seed while
  `features.warmup_bars` are left out.
- **defined**: where a window stands still or nothing trades, the value is the one the formula names, never
  infinite. A price movement below a billionth of the price is rounding and counts as none.

*First row* counts from 0 and is the first with a value when `features.warmup_bars` is no larger. Deviations
are population deviations. EMA(n) and Wilder averages start as TA-Lib's do, from the mean of their first
values. Where a source names TA-Lib, the tests hold the indicator against it to 1e-9; the others against a
twin in `tests/oracle/indicators_twin.py` that reads as the formula does.
"""


def _row(indicator: Indicator) -> str:
    formula = indicator.formula.replace("|", "\\|")
    return f"| `{indicator.name}` | {formula} | {indicator.unit} | {indicator.warmup} | {indicator.source} |"


def catalogue_page() -> str:
    """Return the catalogue in Markdown: one table a family, one row an indicator."""
    lines = [_INTRODUCTION]
    for family, title in _FAMILIES.items():
        lines += [f"## {title}\n", "| name | formula | unit | first row | source |", "|---|---|---|---|---|"]
        lines += [*(_row(indicator) for indicator in INDICATORS if indicator.family == family), ""]
    return "\n".join(lines)


if __name__ == "__main__":
    write_text(Path(__file__).parents[1] / "docs/indicators.md", catalogue_page())
