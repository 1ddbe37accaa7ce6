"""The report as a person opens it: from the file, with no network, on a desk and on a phone."""

from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import Page, expect

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.timeout(900)]


def test_the_report_opens_offline_and_says_what_happened(
    repository: Path, page: Page, screenshots: Path
) -> None:
    asked: list[str] = []
    said: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda message: said.append(message.text))
    page.context.set_offline(True)
    address = (repository / "reports" / "report.html").as_uri()
    page.goto(address)
    assert asked == [address]
    assert said == []
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    text = page.inner_text("body")
    for words in ("directional", "SYN000", "not investment advice"):
        assert words.lower() in text.lower()
    figures = page.locator("svg[role=img]")
    assert figures.count() >= 5
    for index in range(figures.count()):
        box = figures.nth(index).bounding_box()
        assert box is not None
        assert box["width"] > 200, figures.nth(index).get_attribute("aria-label")
    page.screenshot(path=screenshots / "report.png", full_page=True)


def test_nothing_of_the_report_is_cut_off_on_a_phone(repository: Path, page: Page, screenshots: Path) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto((repository / "reports" / "report.html").as_uri())
    width = page.evaluate("document.documentElement.scrollWidth")
    page.screenshot(path=screenshots / "report_phone.png", full_page=True)
    assert width <= 390


def test_every_figure_says_in_words_what_it_shows(repository: Path, page: Page) -> None:
    page.goto((repository / "reports" / "report.html").as_uri())
    figures = page.locator("figure svg")
    for index in range(figures.count()):
        assert figures.nth(index).get_attribute("role") == "img"
        assert len(figures.nth(index).get_attribute("aria-label") or "") > 20


# Of every element with text of its own: WCAG's contrast against the page, smallest first.
CONTRAST = """() => {
  const parts = text => text.match(/[\\d.]+/g).slice(0, 3).map(Number);
  const light = colour => {
    const linear = v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
    const [r, g, b] = parts(colour).map(v => linear(v / 255));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const paper = light(getComputedStyle(document.body).backgroundColor);
  return [...document.querySelectorAll("body *")]
    .filter(e => [...e.childNodes].some(n => n.nodeType === 3 && n.textContent.trim()))
    .filter(e => !["STYLE", "SCRIPT"].includes(e.tagName.toUpperCase()))
    .map(e => {
      const style = getComputedStyle(e), ink = e.closest("svg") ? style.fill : style.color;
      if (!ink.startsWith("rgb(")) return [21, e.textContent];
      const [low, high] = [paper, light(ink)].sort((a, b) => a - b);
      return [(high + 0.05) / (low + 0.05), e.textContent.trim().slice(0, 40)];
    })
    .sort((a, b) => a[0] - b[0])
    .slice(0, 3);
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out_from_the_page(
    repository: Path, page: Page, screenshots: Path, scheme: Literal["light", "dark"]
) -> None:
    page.emulate_media(color_scheme=scheme)
    page.goto((repository / "reports" / "report.html").as_uri())
    page.screenshot(path=screenshots / f"report_{scheme}.png", full_page=True)
    worst = page.evaluate(CONTRAST)
    assert worst[0][0] >= 4.5, worst  # WCAG 2.2, level AA


def test_the_report_prints(repository: Path, page: Page, screenshots: Path) -> None:
    page.goto((repository / "reports" / "report.html").as_uri())
    printed = page.pdf(path=screenshots / "report.pdf", format="A4")
    assert printed.startswith(b"%PDF-")
    page.emulate_media(media="print")
    page.set_viewport_size({"width": 718, "height": 1000})  # A4 less margins of 1 cm
    assert page.evaluate("document.documentElement.scrollWidth") <= 718
    cut = "[...document.querySelectorAll('.scroll')].filter(e => e.scrollWidth > e.clientWidth).length"
    assert page.evaluate(cut) == 0  # paper does not scroll
