import re
from xml.etree import ElementTree

import pytest

from candlecast.report.drawing import INK, MODEL, canvas, to_svg


def draw(name: str) -> str:
    with canvas(name) as figure:
        axes = figure.subplots()
        axes.plot([1, 2, 3], [0.123456, 3, 2], color=MODEL, marker="o")
        axes.set_title("a < b & 0.12345", color=INK)
        return to_svg(figure, name, 'says "<so>"')


def test_the_same_figure_is_the_same_bytes():
    assert draw("a") == draw("a")


def test_it_is_one_well_formed_element_with_a_name():
    element = ElementTree.fromstring(draw("a"))
    assert element.tag == "svg"
    assert element.get("role") == "img"
    assert element.get("aria-label") == 'says "<so>"'
    assert "a < b & 0.12345" in [text.text for text in element.iter("text")]


def test_colours_follow_the_page_and_none_is_left_over():
    svg = draw("a")
    assert "var(--model)" in svg
    assert not re.search(r"(fill|stroke): #(?!000000)", svg)


def test_two_figures_share_no_identifier():
    first, second = (set(re.findall(r' id="([^"]+)"', draw(name))) for name in ("a", "b"))
    assert first
    assert not first & second


def test_every_reference_resolves_inside_the_figure():
    svg = draw("a")
    identifiers = set(re.findall(r' id="([^"]+)"', svg))
    assert set(re.findall(r'href="#([^"]+)"|url\(#([^)]+)\)', svg))
    for pair in re.findall(r'href="#([^"]+)"|url\(#([^)]+)\)', svg):
        assert "".join(pair) in identifiers


@pytest.mark.parametrize("forbidden", ["<metadata", "<?xml", "http://www.w3.org/1999", "DejaVu", "<style"])
def test_nothing_of_matplotlibs_own_page_remains(forbidden):
    assert forbidden not in draw("a")
