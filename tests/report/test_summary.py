from dataclasses import replace

from candlecast.report.summary import markdown, summary, write_summary
from candlecast.report.tables import Cell, Row, Table


def test_it_holds_the_verdict_intervals_tests_costs_audit_and_origin(inputs):
    text = summary(inputs)
    assert text.startswith("## ")
    for part in (
        "95% interval",
        "Pesaran",
        "before costs",
        "Leakage audit: None of 2 checks (1 is a note)",
        "- Commit: ",
    ):
        assert part in text
    assert text.endswith("not investment advice.\n")


def test_a_short_span_has_the_plain_table(inputs):
    text = summary(replace(inputs, assessment=None, audit=None))
    assert "| Test span | Directional accuracy |" in text
    assert "Leakage audit" not in text


def test_a_table_is_markdown_whatever_its_text():
    table = Table((("a|b", ""),), (Row("<x>", (Cell("1|2", "best"),)),))
    assert markdown(table, "corner").splitlines() == [
        "| corner | a|b |",
        "| --- | ---: |",
        "| &lt;x> | **1\\|2** |",
    ]


def test_writing_twice_gives_the_same_bytes(inputs, tmp_path):
    for name in ("a.md", "b.md"):
        write_summary(inputs, tmp_path / name)
    assert (tmp_path / "a.md").read_bytes() == (tmp_path / "b.md").read_bytes()
