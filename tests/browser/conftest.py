"""A repository in which two trainings have run, and a browser to look at what they left."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from experiments.clones import ROOT, copy_of, environment, set_params
from playwright.sync_api import Browser, Page, expect, sync_playwright

CHROMIUM = Path("/usr/bin/chromium")
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
PATIENCE = 120_000  # milliseconds; a busy machine draws slowly, and nothing is asserted about time


def run(folder: Path, stage: str, experiment: str) -> None:
    subprocess.run(
        [sys.executable, f"pipeline/{stage}.py"],
        cwd=folder,
        env=environment() | {"PYTHONPATH": "src", "DVC_EXP_NAME": experiment, "DVC_STAGE": stage},
        check=True,
        capture_output=True,
    )


@pytest.fixture(scope="session")
def repository(finished_repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two trainings, `accumulated` and then `small`, and the report of the second."""
    folder = copy_of(finished_repository, tmp_path_factory.mktemp("browser") / "repository")
    for experiment, steps in (("accumulated", 4), ("small", 1)):
        set_params(folder, {"accum": {"steps": steps}})
        for stage in ("train", "evaluate"):
            run(folder, stage, experiment)
    return folder


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    executable = os.environ.get("CHROMIUM", str(CHROMIUM))
    if not Path(executable).exists():
        pytest.skip(f"no Chromium at {executable}; scripts/install-browser installs one")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    context = browser.new_context(viewport={"width": 1440, "height": 960})
    page = context.new_page()
    page.set_default_timeout(PATIENCE)
    expect.set_options(timeout=PATIENCE)
    yield page
    context.close()


@pytest.fixture(scope="session")
def screenshots() -> Path:
    folder = ROOT / "screenshots"
    folder.mkdir(exist_ok=True)
    return folder
