from pathlib import Path

import pytest
from mlflow import MlflowClient
from mlflow.entities import Metric
from tracking.records import plan, summary, update, validation

from candlecast.errors import TrackingError
from candlecast.tracking.backend import connect
from candlecast.tracking.observer import MLflowObserver
from candlecast.tracking.restored import RESTORED
from candlecast.tracking.runs import RunReader
from candlecast.tracking.store import ROLE, Store, tracking_store
from candlecast.tracking.studies import ARM, STUDY


@pytest.fixture
def client(store: Store) -> MlflowClient:
    return connect(store)[0]


def add(store: Store, name: str, experiment: str | None = None, **tags: str) -> str:
    """Leave a run with the course of a training of three updates."""
    client, number = connect(store)
    if experiment is not None:
        tags["dvc.experiment"] = experiment
    run_id: str = client.create_run(number, run_name=name, tags=tags).info.run_id
    observer = MLflowObserver(client, run_id)
    observer.on_start(plan(total_updates=3))
    observer.on_updates([update(1), update(2), update(3)])
    observer.on_validation(validation(3))
    observer.on_end(summary(3))
    client.set_terminated(run_id)
    return run_id


def test_a_run_is_found_by_its_id_its_experiment_and_its_name(store: Store) -> None:
    run_id = add(store, "16x8 s0", "grid-1")
    add(store, "16x1 s0", "grid-2")
    reader = RunReader(store)
    assert [run.run_id for run in reader.named([run_id, "grid-1", "16x8 s0"])] == [run_id] * 3


def test_a_name_that_two_runs_have_is_refused_with_their_ids(store: Store) -> None:
    ids = {add(store, "16x8 s0"), add(store, "16x8 s0")}
    with pytest.raises(TrackingError, match="2 runs in the tracking store have this name") as refused:
        RunReader(store).named(["16x8 s0"])
    assert all(run_id in str(refused.value) for run_id in ids)


def test_of_two_runs_of_a_name_the_finished_one_is_meant(store: Store, client: MlflowClient) -> None:
    failed, finished = add(store, "a", "grid-1"), add(store, "a", "grid-1")
    client.set_terminated(failed, "FAILED")
    assert RunReader(store).named(["grid-1"])[0].run_id == finished


def test_a_name_that_no_run_has_is_one_line(store: Store) -> None:
    with pytest.raises(TrackingError, match="it's: neither a run's id, a DVC experiment nor a run's name"):
        RunReader(store).named(["it's"])


def test_a_filter_lets_through_trainings_only(store: Store) -> None:
    wanted = add(store, "a", group="x")
    add(store, "b", group="y")
    add(store, "a-study", group="x", **{ROLE: "study"})
    assert [run.run_id for run in RunReader(store).matching("tags.group = 'x'")] == [wanted]


def test_a_filter_that_mlflow_does_not_understand_is_one_line(store: Store) -> None:
    with pytest.raises(TrackingError, match=r"--filter: MLflow does not understand .* write for example"):
        RunReader(store).matching("learning rate is 3")


def test_the_cells_of_a_study_are_those_below_it(store: Store) -> None:
    cell = add(store, "cell", **{STUDY: "001-a", ARM: "small"})
    add(store, "parent", **{STUDY: "001-a", ROLE: "study"})
    add(store, "other", **{STUDY: "002-b", ARM: "small"})
    assert [run.run_id for run in RunReader(store).of_study("001-a")] == [cell]


def test_the_course_of_a_training_comes_back(store: Store) -> None:
    add(store, "a")
    reader = RunReader(store)
    course = reader.course(reader.named(["a"])[0])
    assert course.points["train/loss"] == ((1, 1.0), (2, 0.5), (3, pytest.approx(1 / 3)))
    assert course.points["samples_seen"] == ((1, 20.0), (2, 40.0), (3, 60.0))
    assert course.points["val/loss"] == ((3, pytest.approx(0.5 + 1 / 3)),)
    assert (course.history, course.scores) == (None, None)


def test_what_a_resumed_training_said_last_is_what_happened(store: Store, client: MlflowClient) -> None:
    run_id = add(store, "a")
    client.log_batch(run_id, metrics=[Metric("train/loss", 9.0, 2**42, 2)])
    reader = RunReader(store)
    assert dict(reader.course(reader.named(["a"])[0]).points["train/loss"])[2] == 9.0


def test_every_update_is_read_from_the_runs_own_table(store: Store, client: MlflowClient) -> None:
    run_id = add(store, "a")
    client.log_text(run_id, "update,loss\n1,0.5\n", "training/history.csv")
    client.log_text(run_id, "{}", "metrics.json")
    reader = RunReader(store)
    course = reader.course(reader.named(["a"])[0])
    assert (course.history, course.scores) == ("update,loss\n1,0.5\n", "{}")


def test_a_run_that_stands_for_a_restored_training_has_the_trainings_course(store: Store) -> None:
    trained = add(store, "trained")
    client, experiment = connect(store)
    client.create_run(experiment, run_name="restored", tags={RESTORED: trained})
    reader = RunReader(store)
    restored = reader.named(["restored"])[0]
    assert len(reader.course(restored).points["train/loss"]) == 3


def test_artifacts_that_are_on_another_machine_are_done_without(store: Store, client: MlflowClient) -> None:
    run_id = add(store, "a")
    client.log_text(run_id, "update,loss\n", "training/history.csv")
    for path in sorted(Path(store.root, "mlartifacts").rglob("*"), reverse=True):
        path.unlink() if path.is_file() else path.rmdir()
    reader = RunReader(store)
    assert reader.course(reader.named(["a"])[0]).history is None


def test_a_store_that_does_not_answer_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "0")  # seven, with minutes between them, are usual
    closed = tracking_store({"MLFLOW_TRACKING_URI": "http://127.0.0.1:9"}, tmp_path)
    with pytest.raises(TrackingError, match="the tracking store does not answer"):
        RunReader(closed)
