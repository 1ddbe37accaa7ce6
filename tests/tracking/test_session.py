import json
import logging
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from mlflow import MlflowClient
from mlflow.entities import Run
from tracking.records import plan, summary, update

from candlecast.errors import TrackingError
from candlecast.stage import Terminated
from candlecast.tracking.backend import connect
from candlecast.tracking.pending import FOLDER
from candlecast.tracking.run_file import read_run, write_run
from candlecast.tracking.session import evaluation_run, training_run
from candlecast.tracking.store import Store

PARAMS: dict[str, Any] = {
    "seed": 3,
    "data": {"source": "sample", "tickers": ["A", "B"]},
    "accum": {"micro_batch": 16, "steps": 8, "effective_batch": None},
    "train": {"precision": "fp32", "peak_lr": 1e-3},
}


def train(store: Store, environ: dict[str, str] | None = None, resume_file: Path | None = None) -> str:
    with training_run(environ or {}, store.root, PARAMS, "d" * 64, resume_file) as log:
        log.observer.on_start(plan())
        log.observer.on_updates([update(1), update(2)])
        log.observer.on_end(summary(2))
    return log.run_id


def train_and_end_with(error: BaseException, store: Store, resume_file: Path | None = None) -> str:
    with suppress(type(error)), training_run({}, store.root, PARAMS, "d", resume_file) as log:
        log.observer.on_updates([update(1), update(2)])
        raise error
    return log.run_id


def runs(store: Store) -> dict[str, Run]:
    client, experiment = connect(store)
    return {run.info.run_name: run for run in client.search_runs([experiment])}


def client_of(store: Store) -> MlflowClient:
    return connect(store)[0]


def test_a_run_says_what_it_was_made_of(store: Store) -> None:
    environ = {"DVC_EXP_NAME": "grid-2", "DVC_EXP_BASELINE_REV": "abc", "PASSWORD": "hidden"}
    run = client_of(store).get_run(train(store, environ))
    assert run.info.run_name == "16x8 fp32 lr1e-3 s3"
    assert run.info.status == "FINISHED"
    assert run.data.params["data.tickers"] == "A, B"
    assert run.data.params["accum.effective_batch"] == "null"
    assert run.data.tags["dvc.experiment"] == "grid-2"
    assert run.data.tags["dvc.batch"] == "grid"
    assert run.data.tags["data.sha256"] == "d" * 64
    assert "CPU" in run.data.tags["hardware"] or "NVIDIA" in run.data.tags["hardware"]
    assert run.inputs.dataset_inputs[0].dataset.name == "sample"
    assert "hidden" not in str(run.to_dictionary())


def test_files_and_folders_become_artifacts(store: Store, tmp_path: Path) -> None:
    (tmp_path / "plots").mkdir()
    (tmp_path / "plots" / "a.csv").write_text("1")
    (tmp_path / "report.html").write_text("<p>")
    with training_run({}, tmp_path, PARAMS, "d") as log:
        log.files(tmp_path / "plots", tmp_path / "report.html")
    names = {item.path for item in client_of(store).list_artifacts(log.run_id)}
    assert names == {"plots", "report.html", "environment.json"}


@pytest.mark.parametrize(
    ("error", "status"),
    [(ValueError("bad\nworse"), "FAILED"), (Terminated(), "KILLED"), (KeyboardInterrupt(), "KILLED")],
)
def test_a_run_that_ends_early_says_how(error: BaseException, status: str, store: Store) -> None:
    run = client_of(store).get_run(train_and_end_with(error, store))
    assert run.info.status == status
    assert run.data.metrics["train/loss"] == 0.5
    assert run.data.tags.get("failure") == ("bad" if status == "FAILED" else None)


TRAIN_FOR_EVER = """
import os, sys, time
from pathlib import Path
from candlecast.stage import run_stage
from candlecast.tracking.session import training_run
from tracking.records import update
from tracking.test_session import PARAMS
def main():
    with training_run(os.environ, Path(sys.argv[1]), PARAMS, "d") as log:
        log.observer.on_updates([update(1)])
        print(log.run_id, flush=True)
        time.sleep(600)
run_stage(main)
"""


@contextmanager
def training(store: Store) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A process that trains in the store until it is stopped, and its run."""
    code = f"import sys; sys.path.insert(0, {str(Path(__file__).parents[1])!r})\n{TRAIN_FOR_EVER}"
    command = [sys.executable, "-c", code, str(store.root)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        assert process.stdout is not None
        try:
            yield process, process.stdout.readline().strip()
        finally:
            process.kill()


def test_a_terminated_process_leaves_a_killed_run_with_its_points(store: Store) -> None:
    with training(store) as (process, run_id):
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=60) == 128 + signal.SIGTERM
    run = client_of(store).get_run(run_id)
    assert run.info.status == "KILLED"
    assert run.data.metrics["train/loss"] == 1.0


def test_a_run_left_behind_by_a_killed_process_is_closed_by_the_next_training(store: Store) -> None:
    client = client_of(store)
    with training(store) as (_, run_id):
        assert client.get_run(run_id).info.status == "RUNNING"
    assert client.get_run(run_id).info.status == "RUNNING"
    train(store)
    assert client.get_run(run_id).info.status == "KILLED"


def test_a_training_that_starts_again_goes_on_in_its_run(store: Store, tmp_path: Path) -> None:
    resume_file = tmp_path / "checkpoints" / "run.json"
    first = train_and_end_with(Terminated(), store, resume_file)
    with training_run({}, tmp_path, PARAMS, "d", resume_file) as again:
        again.observer.on_start(plan(resumed_update=1))
        again.observer.on_updates([update(2), update(3)])
    assert again.run_id == first
    history = client_of(store).get_metric_history(first, "train/loss")
    assert [point.step for point in history] == [1, 2, 3]
    assert client_of(store).get_run(first).info.status == "FINISHED"


def test_a_run_that_failed_and_was_continued_no_longer_says_why_it_failed(
    store: Store, tmp_path: Path
) -> None:
    resume_file = tmp_path / "run.json"
    first = train_and_end_with(ValueError("disk full"), store, resume_file)
    assert client_of(store).get_run(first).data.tags["failure"] == "disk full"
    assert train(store, resume_file=resume_file) == first
    run = client_of(store).get_run(first)
    assert run.info.status == "FINISHED"
    assert "failure" not in run.data.tags


def test_a_run_is_named_by_what_was_chosen_and_keeps_a_name_given_by_hand(
    store: Store, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "candlecast")
    accum = {"micro_batch": "auto", "steps": None, "effective_batch": 20}
    params = {**PARAMS, "accum": accum, "train": {"precision": "auto", "peak_lr": 1e-3}}
    resume_file = tmp_path / "run.json"
    with training_run({}, store.root, params, "d", resume_file) as log:
        assert client_of(store).get_run(log.run_id).info.run_name == "autox20 auto lr1e-3 s3"
        log.observer.on_start(plan())
    assert client_of(store).get_run(log.run_id).info.run_name == "5x4 fp32 lr1e-3 s3"
    client_of(store).update_run(log.run_id, name="my favourite")
    with training_run({}, store.root, params, "d", resume_file) as again:
        again.observer.on_start(plan(micro_batch=10))
    assert client_of(store).get_run(log.run_id).info.run_name == "my favourite"
    said = [line for line in caplog.messages if line.startswith("MLflow run")]
    names = ("5x4 fp32 lr1e-3 s3", "my favourite")
    assert said == [f"MLflow run {name} ({log.run_id}) in {store.name}" for name in names]


def test_a_run_that_was_deleted_is_not_continued(store: Store, tmp_path: Path) -> None:
    resume_file = tmp_path / "run.json"
    first = train(store, resume_file=resume_file)
    client_of(store).delete_run(first)
    second = train(store, resume_file=resume_file)
    assert second != first
    assert read_run(resume_file) == second


def test_points_survive_a_store_that_goes_away_for_good(
    store: Store, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    with monkeypatch.context() as away, training_run({}, store.root, PARAMS, "d") as log:
        log.observer.on_updates([update(1), update(2)])

        def refuse(*arguments: object, **named: object) -> None:
            raise OSError("no route to host")

        away.setattr(MlflowClient, "log_batch", refuse)
        away.setattr(MlflowClient, "set_terminated", refuse)
    assert (store.root / FOLDER / f"{log.run_id}.json").exists()
    assert "once it answers, the next training or evaluation or candlecast ui sends it" in caplog.text
    train(store)
    run = client_of(store).get_run(log.run_id)
    assert run.info.status == "FINISHED"
    assert run.data.metrics["train/loss"] == 0.5


def test_what_a_training_kept_is_sent_by_the_evaluation_too(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as away, training_run({}, store.root, PARAMS, "d") as log:
        log.observer.on_updates([update(1)])

        def refuse(*arguments: object, **named: object) -> None:
            raise OSError("no route to host")

        away.setattr(MlflowClient, "log_batch", refuse)
    write_run(tmp_path / "run.json", log.run_id)
    evaluate(store, tmp_path / "run.json")
    run = client_of(store).get_run(log.run_id)
    assert run.data.metrics["train/loss"] == 1.0
    assert run.info.status == "FINISHED"


def test_a_training_ends_well_where_nothing_can_be_kept(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    (store.root / ".cache").write_text("a file where the folder should be")
    resume_file = store.root / ".cache" / "checkpoints" / "run.json"
    with (
        monkeypatch.context() as away,
        training_run({}, store.root, PARAMS, "d", resume_file) as log,
    ):
        log.observer.on_updates([update(1)])

        def refuse(*arguments: object, **named: object) -> None:
            raise OSError("no route to host")

        away.setattr(MlflowClient, "log_batch", refuse)
    assert "a training that is interrupted would go on in another run" in caplog.text
    assert "lacks its last" in caplog.text


def evaluate(store: Store, run_file: Path, environ: dict[str, str] | None = None) -> str:
    with evaluation_run(environ or {}, store.root, PARAMS, run_file) as log:
        log.scores({"test": {"directional_accuracy": 0.53}})
        log.files(run_file)
    return log.run_id


def test_an_evaluation_goes_into_the_training_s_run(store: Store, tmp_path: Path) -> None:
    environ = {"DVC_EXP_NAME": "a", "DVC_EXP_BASELINE_REV": "b"}
    run_file = tmp_path / "run.json"
    write_run(run_file, train(store, environ))
    assert evaluate(store, run_file, environ) == read_run(run_file)
    assert evaluate(store, run_file) == read_run(run_file)  # outside an experiment
    run = client_of(store).get_run(read_run(run_file))
    assert run.data.metrics["test/directional_accuracy"] == 0.53
    assert len(client_of(store).get_metric_history(run.info.run_id, "test/directional_accuracy")) == 1
    assert len(runs(store)) == 1


def test_an_experiment_whose_training_was_restored_has_a_run_of_its_own(store: Store, tmp_path: Path) -> None:
    run_file = tmp_path / "run.json"
    write_run(run_file, train(store, {"DVC_EXP_NAME": "first", "DVC_EXP_BASELINE_REV": "b"}))
    environ = {"DVC_EXP_NAME": "second", "DVC_EXP_BASELINE_REV": "b"}
    run_id = evaluate(store, run_file, environ)
    assert evaluate(store, run_file, environ) == run_id
    run = runs(store)["second"]
    assert run.info.status == "FINISHED"
    assert run.data.tags["restored.from"] == read_run(run_file)
    assert run.data.tags["dvc.experiment"] == "second"
    assert run.data.params["accum.steps"] == "8"
    assert run.data.metrics["val/best_loss"] == 0.6
    assert run.data.metrics["test/directional_accuracy"] == 0.53


def test_a_model_pulled_from_elsewhere_has_a_run_too(store: Store, tmp_path: Path) -> None:
    run_file = tmp_path / "run.json"
    write_run(run_file, "0123456789abcdef0123456789abcdef")
    run = client_of(store).get_run(evaluate(store, run_file))
    assert "not in this store" in run.data.tags["mlflow.note.content"]
    assert run.data.metrics["test/directional_accuracy"] == 0.53


@pytest.mark.parametrize("text", [None, "not json", json.dumps({"other": 1}), "[]"])
def test_a_missing_or_broken_run_file_is_one_line(text: str | None, store: Store, tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    if text is not None:
        path.write_text(text)
    with pytest.raises(TrackingError, match=r"run.json: .*train"):
        evaluate(store, path)
