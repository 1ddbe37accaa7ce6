"""A document of paragraphs, tables and figures: one content, as a web page and as Markdown."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from jinja2 import Environment, PackageLoader, StrictUndefined

from candlecast.report.drawing import Drawing
from candlecast.report.summary import markdown
from candlecast.report.tables import Table


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
class Section:
    """A heading and what stands below it, in order."""

    title: str
    parts: tuple[str | Bullets | Shown | Command | Drawing, ...]


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
            yield from (part for part in section.parts if isinstance(part, Drawing))


def page(document: Document) -> str:
    """Return the document as one self-contained page, in the report's style."""
    environment = Environment(
        loader=PackageLoader("candlecast.report", "."),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("document.html").render(
        document=document,
        kinds=lambda part: type(part).__name__,
        style=environment.get_template("report.css").render(),
    )


def text(document: Document, figure: Callable[[Drawing], str]) -> str:
    """Return the document as Markdown; `figure` says by which path it shows a figure."""
    parts = [f"# {document.headline}", f"*{document.kind}*", *document.lead]
    for section in document.sections:
        parts.append(f"## {section.title}")
        for part in section.parts:
            parts.append(_markdown(part, figure))
    return "\n\n".join(parts) + "\n"


def _markdown(part: str | Bullets | Shown | Command | Drawing, figure: Callable[[Drawing], str]) -> str:
    if isinstance(part, Bullets):
        return "\n".join(f"- {line}" for line in part.lines)
    if isinstance(part, Shown):
        return f"{part.caption}\n\n{markdown(part.table, part.corner)}"
    if isinstance(part, Command):
        return f"```\n{part.text}\n```"
    if isinstance(part, Drawing):
        return f"![{part.alt}]({figure(part)})\n\n*{part.title}.* {part.caption}"
    return part
