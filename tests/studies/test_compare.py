import csv
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from studies.conftest import made_up_study

from candlecast.studies.compare import Request, compare
from candlecast.tracking.store import Store

FIGURES = {
    "differences",
    "validation-windows",
    "validation-updates",
    "validation-seconds",
    "training-windows",
    "tuning",
    "averaging",
}


class Written:
    """What one comparison left."""

    def __init__(self, folder: Path, said: list[str]) -> None:
        self.folder, self.said = folder, said
        self.page = (folder / "out" / "index.html").read_text()
        self.text = (folder / "out" / "summary.md").read_text()
        self.findings = (folder / "experiments" / "made-up.md").read_text()


@pytest.fixture(scope="module")
def written(made_up: Store, tmp_path_factory: pytest.TempPathFactory) -> Written:
    folder = tmp_path_factory.mktemp("compared")
    (folder / "experiments").mkdir()
    made_up_study(folder / "experiments")
    request = Request(
        what=["made-up"],
        query=None,
        name="comparison",
        confidence=0.95,
        folder=folder / "out",
        findings=folder / "experiments" / "made-up.md",
        command="candlecast compare made-up",
    )
    return Written(folder, compare(folder, made_up, request))


def test_the_verdict_comes_first_everywhere(written: Written) -> None:
    verdict = "Yes: accumulated is better than small, by the rule stated beforehand."
    assert written.said[0] == verdict
    assert written.text.startswith(f"# {verdict}\n")
    assert f"<h1>{verdict}</h1>" in written.page


def test_question_prediction_and_outcome_stand_together(written: Written) -> None:
    asked, predicted, happened = (
        written.findings.index(words)
        for words in ("Does it?", "Written before any run: It will.", "What happened:")
    )
    assert asked < predicted < happened


def test_every_figure_is_a_file_that_the_pages_show(written: Written) -> None:
    assert {path.stem for path in (written.folder / "out" / "figures").glob("*.svg")} == FIGURES
    assert written.page.count('<svg role="img"') == len(FIGURES)
    for page, place in ((written.text, "out"), (written.findings, "experiments")):
        shown = re.findall(r"!\[([^]]+)\]\(([^)]+)\)", page)
        assert {Path(path).stem for _, path in shown} == FIGURES
        for alt, path in shown:
            assert (written.folder / place / path).is_file()
            assert len(alt) > 40


def test_the_page_needs_nothing_but_itself(written: Written) -> None:
    assert not re.findall(r'(?:src|href)="(?!#)', written.page)


def test_every_element_is_closed(written: Written) -> None:
    open_ones: list[str] = []

    class Checker(HTMLParser):
        def handle_starttag(self, tag: str, attrs: object) -> None:
            if tag not in ("meta", "use", "path", "rect", "br"):
                open_ones.append(tag)

        def handle_endtag(self, tag: str) -> None:
            if tag not in ("meta", "use", "path", "rect"):
                assert open_ones.pop() == tag

        def handle_startendtag(self, tag: str, attrs: object) -> None:
            return

    Checker().feed(written.page)
    assert open_ones == []


def test_the_tables_hold_every_run_and_every_contrast(written: Written) -> None:
    with (written.folder / "out" / "runs.csv").open() as file:
        runs = list(csv.DictReader(file))
    assert len(runs) == 14
    assert {row["arm"] for row in runs} == {"small", "accumulated", "large"}
    with (written.folder / "out" / "contrasts.csv").open() as file:
        rows = {row["measure"]: row for row in csv.DictReader(file)}
    assert float(rows["test/log_loss_error"]["difference"]) == pytest.approx(-0.01)
    assert rows["test/log_loss_error"]["pairs"] == "5"


def test_an_optimum_at_the_grids_edge_is_said(written: Written) -> None:
    rows = [line for line in written.text.splitlines() if line.startswith("| large |")]
    assert any("at the upper edge: the grid should go higher" in row for row in rows)
    rows = [line for line in written.text.splitlines() if line.startswith("| small |")]
    assert any("inside the grid" in row for row in rows)


def test_what_is_missing_is_named_and_the_command_given(written: Written) -> None:
    assert "made-up-large-lr1e-3-s3 (confirmation): not in the tracking store" in written.findings
    assert "missing: made-up-large-lr1e-3-s3 (confirmation): not in the tracking store" in written.said
    assert "```\ncandlecast compare made-up\n```" in written.findings


def test_the_control_is_reported_against_its_tolerance(written: Written) -> None:
    assert (
        "The study allowed 0.001 in val/best_loss; the largest difference is 0.00e+00: kept." in written.text
    )


def test_the_same_runs_give_the_same_bytes(made_up: Store, written: Written, tmp_path: Path) -> None:
    request = Request(
        what=[str(written.folder / "experiments" / "made-up.yaml")],
        query=None,
        name="comparison",
        confidence=0.95,
        folder=tmp_path,
        findings=None,
        command="candlecast compare made-up",
    )
    compare(written.folder, made_up, request)
    assert (tmp_path / "index.html").read_text() == written.page


def test_a_filter_makes_arms_of_what_differs(made_up: Store, tmp_path: Path) -> None:
    request = Request(
        what=[],
        query="tags.`candlecast.phase` = 'confirmation' and params.`accum.micro_batch` = '16'",
        name="by-filter",
        confidence=0.9,
        folder=None,
        findings=None,
        command="candlecast compare --filter ...",
    )
    said = compare(tmp_path, made_up, request)
    assert said[0] in ("16 x 1 against 16 x 8", "16 x 8 against 16 x 1")
    # The made-up difference of the arms; its sign depends on which is named first.
    (log_loss,) = [line for line in said if line.startswith("Log-loss, test")]
    assert re.search(r"\b0\.0100, (better|worse)", log_loss), log_loss
    text = (tmp_path / "reports" / "studies" / "by-filter" / "summary.md").read_text()
    assert "90% by t" in text
    assert "What was asked" not in text
