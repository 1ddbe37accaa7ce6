"""A document of paragraphs, tables and figures: one content, as a web page and as Markdown."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from candlecast.report.drawing import Drawing
from candlecast.report.summary import markdown
from candlecast.report.tables import Table
from candlecast.report.template import render_page


@dataclass(frozen=True, slots=True)
class Bullets:
    """Lines of a list."""

    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Shown:
    """A table with the head of its first column and a caption; wordy: its rows are labelled by sentences."""

    table: Table
    corner: str
    caption: str
    wordy: bool = False


@dataclass(frozen=True, slots=True)
class Command:
    """What to type."""

    text: str


@dataclass(frozen=True, slots=True)
class Figures:
    """Figures that stand side by side where there is room."""

    drawings: tuple[Drawing, ...]


Part = str | Bullets | Shown | Command | Figures


@dataclass(frozen=True, slots=True)
class Section:
    """A heading and what stands below it, in order."""

    title: str
    parts: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class Document:
    """What kind of document it is, what it says in a sentence, what that rests on, and all the rest."""

    kind: str
    headline: str
    lead: tuple[str, ...]
    sections: tuple[Section, ...]

    def drawings(self) -> Iterator[Drawing]:
        """Yield every figure in order."""
        for section in self.sections:
            for part in section.parts:
                if isinstance(part, Figures):
                    yield from part.drawings


def page(document: Document) -> str:
    """Return the document as one self-contained page, in the report's style."""
    return render_page("document.html", document=document, kinds=lambda part: type(part).__name__)


def text(document: Document, figure: Callable[[Drawing], str]) -> str:
    """Return the document as Markdown; `figure` says by which path it shows a figure."""
    parts = [f"# {document.headline}", f"*{document.kind}*", *document.lead]
    for section in document.sections:
        parts.append(f"## {section.title}")
        parts += [_markdown(part, figure) for part in section.parts]
    return "\n\n".join(parts) + "\n"


def _markdown(part: Part, figure: Callable[[Drawing], str]) -> str:
    if isinstance(part, Bullets):
        return "\n".join(f"- {line}" for line in part.lines)
    if isinstance(part, Shown):
        return f"{part.caption}\n\n{markdown(part.table, part.corner)}"
    if isinstance(part, Command):
        return f"```\n{part.text}\n```"
    if isinstance(part, Figures):
        return "\n\n".join(
            f"![{each.alt}]({figure(each)})\n\n*{each.title}.* {each.caption}" for each in part.drawings
        )
    return part
