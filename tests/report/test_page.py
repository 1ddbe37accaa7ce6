import re
from dataclasses import replace
from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest

from candlecast.data.source import Revision
from candlecast.report.page import render, write_report

VOID = {"meta", "br", "link", "img", "input", "hr"}


class Reader(HTMLParser):
    """Collects identifiers, headings and unbalanced tags."""

    def __init__(self):
        super().__init__()
        self.open, self.faults, self.identifiers = [], [], []

    def handle_starttag(self, tag, attrs):
        self.identifiers += [value for name, value in attrs if name == "id"]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.faults.append(tag)


@pytest.fixture(scope="module")
def page(inputs) -> str:
    return render(inputs)


def test_it_is_one_file_that_asks_the_network_for_nothing(page):
    assert not re.search(r"(?:src|href)\s*=\s*[\"'](?!#)", page)
    assert "@import" not in page
    assert "<script" not in page
    assert not re.search(r"url\((?!#)", page)


def test_tags_balance_and_identifiers_are_unique(page):
    reader = Reader()
    reader.feed(page)
    assert not reader.faults
    assert not reader.open
    assert len(reader.identifiers) == len(set(reader.identifiers))


def test_every_figure_has_words_for_who_cannot_see_it(page):
    figures = re.findall(r"<figure>.*?</figure>", page, flags=re.DOTALL)
    assert len(figures) == 10
    for figure in figures:
        assert re.search(r'<svg role="img" aria-label="[^"]{40,}"', figure)
        assert "<figcaption>" in figure


@pytest.mark.parametrize(
    "text",
    [
        "not investment advice",
        "Gradient boosting",
        "What it held in memory",
        "left out: 196 bars",
        "windows.horizon",
        "0123abcd",
        "They survived.",
        "The tests, in words",
        "Are the tests honest on a span like this one?",
        "What it would have earned",
        "Could the future have leaked in?",
        "The tracking store holds 3 finished trainings",
        "2 runs, this one included, left daily losses of these very windows",
        "The other 1 of 3 finished trainings in the store left none",
    ],
)
def test_it_tells_what_a_reader_looks_for(page, text):
    assert text in page


def test_the_same_inputs_give_the_same_bytes(inputs, page, tmp_path):
    write_report(inputs, tmp_path / "report.html", tmp_path / "figures")
    assert (tmp_path / "report.html").read_text(encoding="utf-8") == page


def test_text_from_outside_is_escaped(inputs):
    hostile = replace(inputs, provenance={"Commit": "<script>alert(1)</script>"})
    assert "<script>" not in render(hostile)


def test_a_vendors_revision_is_said(inputs):
    revision = Revision(
        ticker="IBM",
        rows_added=0,
        rows_removed=0,
        rows_changed=85,
        first="2012-01-03",
        last="2012-05-04",
        largest_change=0.75,
        suspected_split=4.0,
    )
    page = render(replace(inputs, manifest=replace(inputs.manifest, revisions=(revision,))))
    assert "IBM: the vendor revised 85 bars" in page
    assert "as after a split of 4" in page
    assert "vendor has changed bars" not in render(inputs)


def test_a_span_too_short_and_an_audit_not_run_leave_their_sections_out(inputs):
    page = render(replace(inputs, assessment=None, audit=None))
    assert "too short to tell skill from luck" in page
    assert "What it would have earned" not in page
    assert "Could the future" not in page


def test_no_measured_noise_leaves_its_figure_out(inputs):
    page = render(replace(inputs, history=inputs.history.drop("noise_scale", "noise_low", "noise_high")))
    assert "Gradient noise" not in page


def test_every_figure_of_the_page_is_also_a_file_of_its_own(inputs, tmp_path):
    write_report(inputs, tmp_path / "report.html", tmp_path / "figures")
    page = (tmp_path / "report.html").read_text()
    files = sorted((tmp_path / "figures").iterdir())
    assert len(files) == page.count("<svg ") > 5
    for file in files:
        assert ElementTree.parse(file).getroot().tag == "{http://www.w3.org/2000/svg}svg"
