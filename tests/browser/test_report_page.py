"""The report as a person opens it: from the file, with no network, on a desk and on a phone."""

from pathlib import Path

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
