"""Photograph MLflow's pages for the documentation, from the store of this repository.

    python scripts/screenshots.py docs/figures RUN OTHER_RUN

The runs are DVC experiments or ids of MLflow runs, the first of them evaluated. Needs Chromium, as the
browser tests do: CHROMIUM names it where it is not /usr/bin/chromium.
"""

import io
import os
import sys
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page, sync_playwright

from candlecast.files import replacing
from candlecast.tracking.lookup import Found, find_run
from candlecast.tracking.run_model import model_of
from candlecast.tracking.server import (
    charts_page,
    choose_port,
    compare_page,
    model_page,
    run_page,
    serve,
)
from candlecast.tracking.store import tracking_store

COLOURS = 96  # of the palette; a page of text and lines needs no more
PATIENCE = 120_000  # milliseconds
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]


def close_assistant(page: Page) -> None:
    """Close the chat panel that MLflow opens on a first visit."""
    panel = page.locator('[data-component-id="mlflow.assistant.chat_panel.close"]')
    if panel.count():
        panel.first.click()


def take(page: Page, path: Path, height: int = 760) -> None:
    """Write what the window shows as a small PNG."""
    page.wait_for_timeout(1500)  # charts move into place
    shot = page.screenshot(clip={"x": 0, "y": 0, "width": 1280, "height": height})
    picture = Image.open(io.BytesIO(shot)).convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE)
    with replacing(path) as temporary:
        picture.save(temporary, "PNG", optimize=True)
    print(f"{path}: {path.stat().st_size / 1000:.0f} kB")


def charts(page: Page, url: str, found: Found, folder: Path) -> None:
    """All runs, loss against training windows seen."""
    page.goto(url + charts_page(found.experiment))
    page.get_by_text("matching runs").wait_for()
    close_assistant(page)
    page.get_by_placeholder("Search metric charts").fill("val/loss|train/loss")
    page.get_by_label("Configure charts").click()
    page.get_by_role("menuitem", name="Metric").hover()
    # The list scrolls under the pointer, so the choice is made without one.
    page.get_by_role("menuitemcheckbox", name="samples_seen", exact=True).dispatch_event("click")
    page.keyboard.press("Escape")
    page.locator("text.xtitle").first.wait_for()
    take(page, folder / "mlflow-charts.png", 1100)


def compare(page: Page, url: str, runs: list[Found], folder: Path) -> None:
    """Two runs side by side, differing parameters only."""
    page.goto(url + compare_page(runs[0].experiment, [each.run.info.run_id for each in runs]))
    page.get_by_role("heading", name="Comparing 2 Runs from 1 Experiment").wait_for()
    close_assistant(page)
    for section in ("Parameters", "Metrics"):
        page.get_by_role("switch", name=f"{section} - Show diff only").click()
    page.get_by_role("switch", name="Metrics - Show diff only").scroll_into_view_if_needed()
    page.get_by_role("switch", name="Parameters - Show diff only").scroll_into_view_if_needed()
    take(page, folder / "mlflow-compare.png")


def report(page: Page, url: str, found: Found, folder: Path) -> None:
    """The report among a run's artifacts."""
    page.goto(url + run_page(found.experiment, found.run.info.run_id, "/artifacts/report.html"))
    page.frame_locator("iframe").first.get_by_text("Candlecast report").wait_for()
    close_assistant(page)
    take(page, folder / "mlflow-report.png")


def model(page: Page, url: str, found: Found, folder: Path) -> None:
    """The model of a run, and the run that made it."""
    model_id = model_of(found).model_id
    page.goto(url + model_page(found.experiment, model_id))
    page.get_by_text(model_id).first.wait_for()
    close_assistant(page)
    take(page, folder / "mlflow-model.png")


def main() -> None:
    """Take every photograph."""
    folder, *names = sys.argv[1:]
    store = tracking_store(os.environ, Path.cwd())
    runs = [find_run(store, name) for name in names]
    with (
        serve(store, os.environ, choose_port(0)) as (_, url),
        sync_playwright() as playwright,
    ):
        chromium = os.environ.get("CHROMIUM", "/usr/bin/chromium")
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        page = browser.new_page(viewport={"width": 1280, "height": 1120})
        page.set_default_timeout(PATIENCE)
        charts(page, url, runs[0], Path(folder))
        compare(page, url, runs, Path(folder))
        report(page, url, runs[0], Path(folder))
        model(page, url, runs[0], Path(folder))
        browser.close()


if __name__ == "__main__":
    main()
