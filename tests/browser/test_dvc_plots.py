"""DVC's page of plots, opened as a person opens it, without a network."""

from pathlib import Path

import pytest
from experiments.clones import dvc
from playwright.sync_api import Page, expect

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.timeout(900)]


def test_every_plot_is_drawn_and_nothing_is_asked_of_a_network(
    repository: Path, page: Page, screenshots: Path
) -> None:
    (repository / "dvc.lock").unlink(missing_ok=True)
    said = dvc(repository, "plots", "show", "--out", "plots-page")
    place = (repository / "plots-page" / "index.html").as_uri()
    assert place in said
    asked: list[str] = []
    failed: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("pageerror", lambda error: failed.append(str(error)))
    page.goto(place)
    expect(page.locator("canvas")).to_have_count(6)
    assert asked == [place]
    assert failed == []
    drawn = "c => c.getContext('2d').getImageData(0, 0, c.width, c.height).data.some(value => value)"
    assert all(canvas.evaluate(drawn) for canvas in page.locator("canvas").all())
    page.screenshot(path=screenshots / "dvc_plots.png", full_page=True)
