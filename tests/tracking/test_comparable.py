from pathlib import Path

import pytest
from mlflow import MlflowClient
from tracking.test_trainings import PARAMS, train

from candlecast.tracking import comparable
from candlecast.tracking.run_file import write_run
from candlecast.tracking.session import evaluation_run
from candlecast.tracking.store import Store

SPAN = "5" * 64


def judge(
    store: Store, run_id: str, folder: Path, text: str | None, span: str = SPAN, experiment: str = ""
) -> dict[str, str]:
    """Evaluate a training as the stage does, and return what it was told of other runs."""
    environ = {"DVC_EXP_NAME": experiment, "DVC_EXP_BASELINE_REV": "abc"} if experiment else {}
    write_run(folder / "run.json", run_id)
    with evaluation_run(environ, store.root, PARAMS, folder / "run.json") as log:
        others = log.daily_losses_of_others(span)
        if text is not None:
            (folder / "plots").mkdir(exist_ok=True)
            (folder / "plots" / "daily_losses.csv").write_text(text)
            log.files(folder / "plots")
    return others


def test_a_run_is_told_what_others_of_its_span_left(store: Store, tmp_path: Path) -> None:
    first, second, third = (train(store) for _ in range(3))
    assert judge(store, first, tmp_path, "first") == {}
    assert judge(store, second, tmp_path, "second", span="other") == {}
    assert judge(store, third, tmp_path, "third") == {first: "first"}
    assert judge(store, first, tmp_path, "again") == {third: "third"}
    assert judge(store, third, tmp_path, "third") == {first: "again"}


def test_a_training_that_dvc_restored_is_no_other_run(store: Store, tmp_path: Path) -> None:
    first, second = train(store), train(store)
    judge(store, first, tmp_path, "first")
    assert judge(store, first, tmp_path, "first", experiment="again") == {}
    assert judge(store, second, tmp_path, "second") == {first: "first"}


def test_a_run_whose_losses_cannot_be_read_is_left_out(
    store: Store, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    first, second, third = (train(store) for _ in range(3))
    judge(store, first, tmp_path, None)
    judge(store, second, tmp_path, "second")
    assert judge(store, third, tmp_path, "third") == {second: "second"}
    assert f"the daily losses of run {first} cannot be read" in caplog.text


def test_only_the_newest_runs_are_read(store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runs = [train(store) for _ in range(4)]
    for run_id in runs:
        judge(store, run_id, tmp_path, "losses")
    monkeypatch.setattr(comparable, "MOST", 2)
    assert len(judge(store, runs[0], tmp_path, "losses")) == 2


def test_a_store_that_went_away_has_no_other_runs(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    run_id = train(store)
    write_run(tmp_path / "run.json", run_id)
    with evaluation_run({}, store.root, PARAMS, tmp_path / "run.json") as log:

        def away(*_: object, **__: object) -> None:
            raise OSError("no answer")

        monkeypatch.setattr(MlflowClient, "search_runs", away)
        assert log.daily_losses_of_others(SPAN) == {}
    assert "other runs in the tracking store are not compared: no answer" in caplog.text
