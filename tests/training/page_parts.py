"""How the page of pitfalls writes numbers and tables."""

from collections.abc import Mapping

from candlecast.report.tables import Cell, Row, Table

ROUNDING = 1e-9  # relative; below it two results are the same but for the order of sums
START = 1.4  # held-out loss of the untrained network, about


def number(value: float) -> str:
    """Return three digits, or that it is rounding: the last digits are the machine's."""
    return "rounding" if abs(value) < ROUNDING else f"{value:.2g}"


def share(value: float) -> str:
    return "rounding" if abs(value) < ROUNDING else f"{value:.1%}"


def end(loss: float) -> str:
    return f"{loss:.3f}" if loss < 2 * START else "diverged"


def table(heads: tuple[str, ...], rows: Mapping[str, tuple[str, ...]]) -> Table:
    return Table(
        tuple((head, "") for head in heads),
        tuple(Row(name, tuple(map(Cell, cells))) for name, cells in rows.items()),
    )
