from candlecast.report.document import Bullets, Command, Document, Figures, Section, Shown, page, text
from candlecast.report.drawing import Drawing
from candlecast.report.tables import Cell, Row, Table

DRAWING = Drawing("curve", "A curve", '<svg role="img" aria-label="up"></svg>', "It goes up.", "Notice that.")
TABLE = Table((("Value", "of it"), ("Note", "")), (Row("a | b", (Cell("1 < 2"), Cell("so", "words"))),))
DOCUMENT = Document(
    kind="Study 000",
    headline="Yes & no",
    lead=("Because.",),
    sections=(
        Section("First", ("A paragraph.", Bullets(("one", "two")), Command("do <it>"))),
        Section("Second", (Shown(TABLE, "Row", "A table."), Figures((DRAWING,)))),
    ),
)


def test_one_content_reads_as_markdown() -> None:
    assert text(DOCUMENT, lambda drawing: f"figures/{drawing.name}.svg") == (
        "# Yes & no\n\n*Study 000*\n\nBecause.\n\n"
        "## First\n\nA paragraph.\n\n- one\n- two\n\n```\ndo <it>\n```\n\n"
        "## Second\n\nA table.\n\n"
        "| Row | Value | Note |\n| --- | ---: | --- |\n| a \\| b | 1 &lt; 2 | so |\n\n"
        "![It goes up.](figures/curve.svg)\n\n*A curve.* Notice that.\n"
    )


def test_the_same_content_is_a_page_in_which_text_stays_text() -> None:
    shown = page(DOCUMENT)
    for piece in (
        "<h1>Yes &amp; no</h1>",
        "<li>two</li>",
        "do &lt;it&gt;",
        "1 &lt; 2",
        DRAWING.svg,
        "<h2>Second</h2>",
    ):
        assert piece in shown
    assert shown.startswith("<!doctype html>") or shown.lstrip().startswith("<!doctype html>")


def test_the_figures_are_named_in_order() -> None:
    assert [drawing.name for drawing in DOCUMENT.drawings()] == ["curve"]
