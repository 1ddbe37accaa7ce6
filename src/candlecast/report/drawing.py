"""Matplotlib figures as inline SVG that follows the page: its font, its width, its light or dark theme.

Figures are drawn in stand-in colours that `to_svg` turns into the page's CSS variables. Text stays text, so
it can be read aloud, found and selected, and costs a tenth of the bytes of outlines. The same figure gives
the same bytes: no date, and identifiers that depend on its name alone.

Matplotlib takes half as long to import as torch: here it is imported where something is drawn, so that a page
can be made ready without.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from html import escape
from io import StringIO
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Stand-ins, each a colour that nothing else uses, and the CSS variable of the page that takes its place.
INK, MUTED, RULE = "#101112", "#707172", "#d0d1d2"
MODEL, BASELINE, GOOD, BAD, PAPER = "#2060c1", "#b06812", "#208042", "#b02032", "#fdfcfb"
_VARIABLES: Final = {
    INK: "ink",
    MUTED: "muted",
    RULE: "rule",
    MODEL: "model",
    BASELINE: "baseline",
    GOOD: "good",
    BAD: "bad",
    PAPER: "paper",
}

# Inches. A figure is about as wide as a phone, so that its text is not scaled down there.
SIZE: Final = (5.4, 3.3)

_STYLE: Final[dict[Any, Any]] = {
    "svg.fonttype": "none",
    "font.size": 9.5,
    "axes.titlesize": 9.5,
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": MUTED,
    "axes.labelcolor": INK,
    "axes.facecolor": "none",
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.xmargin": 0.02,
    "figure.facecolor": "none",
    "grid.color": RULE,
    "grid.linewidth": 0.6,
    "legend.frameon": False,
    "legend.labelcolor": INK,
    "lines.linewidth": 1.4,
    "text.color": INK,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
}

_SIMPLER: Final = (
    (r"<metadata>.*?</metadata>", ""),
    (r"<!--.*?-->", ""),
    (r"<defs>\s*<style.*?</style>\s*</defs>", ""),  # would apply to the whole page, which has it for figures
    (r'<g id="[^"]*"', "<g"),  # numbered alike in every figure, while a page's identifiers are unique
    (r" font-family: [^;]*;", ""),  # the page's own
    (r"xlink:href", "href"),
    (r"\s*\n\s*", "\n"),
)


@dataclass(frozen=True, slots=True)
class Drawing:
    """A figure of the page: its SVG, what it shows in words for who cannot see it, and what to notice."""

    name: str
    title: str
    svg: str
    alt: str
    caption: str


@contextmanager
def canvas(name: str, size: tuple[float, float] = SIZE) -> Iterator["Figure"]:
    """Yield an empty figure in the page's style; draw and call `to_svg` inside."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    with mpl.rc_context({**_STYLE, "svg.hashsalt": name}):
        yield Figure(figsize=size, layout="constrained")


def to_svg(figure: "Figure", name: str, alt: str) -> str:
    """Return the figure as one `<svg>` element for the page, with `alt` as its accessible name."""
    buffer = StringIO()
    figure.savefig(
        buffer, format="svg", metadata={"Date": None, "Creator": None, "Format": None, "Type": None}
    )
    body = buffer.getvalue()
    width, height = re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', body).groups()  # type: ignore[union-attr]
    inner = body[body.index(">", body.index("<svg")) + 1 : body.rindex("</svg>")]
    for pattern, replacement in _SIMPLER:
        inner = re.sub(pattern, replacement, inner, flags=re.DOTALL)
    inner = re.sub(r"<[^>]+>", lambda tag: re.sub(r"(\.\d\d)\d+", r"\1", tag.group()), inner)
    for colour, variable in _VARIABLES.items():
        inner = inner.replace(colour, f"var(--{variable})")
    return f'<svg role="img" aria-label="{escape(alt)}" viewBox="0 0 {width} {height}">{inner}</svg>'


def standalone(drawing: Drawing) -> str:
    """Return the figure as an SVG file of its own, on white, in the stand-in colours."""
    colours = ";".join(f"--{variable}:{colour}" for colour, variable in _VARIABLES.items())
    style = f"{colours};background:white;font-family:sans-serif"
    return drawing.svg.replace("<svg ", f'<svg xmlns="http://www.w3.org/2000/svg" style="{style}" ', 1)


def date_axis(axes: "Axes") -> None:
    """Write dates along the horizontal axis, as short as they stay clear."""
    from matplotlib.dates import AutoDateLocator, ConciseDateFormatter

    locator = AutoDateLocator(maxticks=8)  # type: ignore[no-untyped-call]
    axes.xaxis_date()
    axes.xaxis.set_major_locator(locator)
    axes.xaxis.set_major_formatter(ConciseDateFormatter(locator))  # type: ignore[no-untyped-call]
