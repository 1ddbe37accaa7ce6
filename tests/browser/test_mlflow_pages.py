"""MLflow as a person opens it after two trainings: charts, compare view, a run, its report."""

import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from mlflow import MlflowClient
from playwright.sync_api import Page, expect

from candlecast.tracking.backend import connect
from candlecast.tracking.restored import find_experiment
from candlecast.tracking.server import charts_page, choose_port, compare_page, serve
from candlecast.tracking.store import tracking_store

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.timeout(900)]


@pytest.fixture(scope="module")
def server(repository: Path) -> Iterator[str]:
    environ = {name: value for name, value in os.environ.items() if not name.startswith("MLFLOW_")}
    with serve(tracking_store({}, repository), environ, choose_port(0)) as (_, url):
        yield url


@pytest.fixture(scope="module")
def client(repository: Path) -> tuple[MlflowClient, str]:
    return connect(tracking_store({}, repository))


@pytest.fixture(scope="module")
def run_ids(client: tuple[MlflowClient, str]) -> dict[str, str]:
    runs = {name: find_experiment(*client, name, None) for name in ("accumulated", "small")}
    return {name: run.info.run_id for name, run in runs.items() if run is not None}


def close_assistant(page: Page) -> None:
    """Close the chat panel that MLflow opens on a first visit."""
    page.locator('[data-component-id="mlflow.assistant.chat_panel.close"]').click()


def test_the_charts_page_draws_both_runs_and_takes_samples_as_its_axis(
    server: str, client: tuple[MlflowClient, str], page: Page, screenshots: Path
) -> None:
    page.goto(server + charts_page(client[1]))
    expect(page.get_by_text("matching runs")).to_contain_text("2")
    close_assistant(page)
    for size in ("8x1", "8x4"):
        name = re.compile(rf"^{size} \w+ lr1e-3 s17 synthetic$")
        expect(page.get_by_role("link", name=name)).to_be_visible()
    for chart in ("test/directional_accuracy", "train/loss", "val/loss"):
        page.get_by_placeholder("Search metric charts").fill(chart)
        expect(page.get_by_text(chart, exact=True).first).to_be_visible()
    page.get_by_placeholder("Search metric charts").fill("train/loss")
    page.get_by_label("Configure charts").click()
    page.get_by_role("menuitem", name="Metric").hover()
    # The list scrolls under the pointer, so the choice is made without one.
    page.get_by_role("menuitemcheckbox", name="samples_seen", exact=True).dispatch_event("click")
    page.keyboard.press("Escape")
    expect(page.locator("text.xtitle").first).to_have_text("samples_seen")
    page.screenshot(path=screenshots / "mlflow_charts.png")


def test_the_compare_page_lays_parameters_and_scores_side_by_side(
    server: str, client: tuple[MlflowClient, str], run_ids: dict[str, str], page: Page, screenshots: Path
) -> None:
    page.goto(server + compare_page(client[1], [*run_ids.values()]))
    expect(page.get_by_role("heading", name="Comparing 2 Runs from 1 Experiment")).to_be_visible()
    close_assistant(page)
    for section in ("Parameters", "Metrics"):
        page.get_by_role("switch", name=f"{section} - Show diff only").click()
    differing = page.get_by_role("row").filter(has_text=re.compile(r"^(accum|plan|data|train)\."))
    names = {row.split("\t")[0] for row in differing.all_inner_texts()}
    assert names == {"accum.steps", "plan.effective_batch", "plan.total_updates", "data.sha256"}
    first, second = (client[0].get_run(run).data.metrics for run in run_ids.values())
    name = min(key for key in first if key.startswith("test/") and abs(first[key] - second[key]) > 0.01)
    expect(page.get_by_text(name, exact=True).first).to_be_visible()
    for value in (first[name], second[name]):
        expect(page.get_by_text(str(round(value, 3)), exact=True).first).to_be_visible()
    page.screenshot(path=screenshots / "mlflow_compare.png", full_page=True)


def test_a_run_s_page_names_its_experiment_and_shows_the_report(
    server: str, client: tuple[MlflowClient, str], run_ids: dict[str, str], page: Page, screenshots: Path
) -> None:
    run = f"{server}/#/experiments/{client[1]}/runs/{run_ids['small']}"
    page.goto(run)
    expect(page.get_by_text("dvc.experiment: small")).to_be_visible()
    close_assistant(page)
    expect(page.get_by_text("Finished")).to_be_visible()
    page.screenshot(path=screenshots / "mlflow_run.png")
    page.goto(f"{run}/artifacts/report.html")
    report = page.frame_locator("iframe").first
    expect(report.get_by_text("Candlecast report")).to_be_visible()
    page.screenshot(path=screenshots / "mlflow_report.png")
