from mlflow import MlflowClient

from candlecast.tracking.backend import connect
from candlecast.tracking.evaluation import count_trainings
from candlecast.tracking.store import Store
from candlecast.tracking.studies import ARM, FINGERPRINT, STUDY, StudyLog, open_study


def add_run(store: Store, cell: str, status: str = "FINISHED", loss: float = 1.0) -> str:
    client, experiment = connect(store)
    run_id: str = client.create_run(experiment, tags={"dvc.experiment": cell}).info.run_id
    client.log_metric(run_id, "val/best_loss", loss)
    client.set_terminated(run_id, status)
    return run_id


def tags(store: Store, run_id: str) -> dict[str, str]:
    client, _ = connect(store)
    found: dict[str, str] = client.get_run(run_id).data.tags
    return found


def open_log(store: Store) -> StudyLog:
    return open_study(store, "s", "Is it so?", "It is not.")


def test_asking_leaves_nothing_in_the_store_and_the_parent_says_what_is_asked(store: Store) -> None:
    log = open_log(store)
    assert log.runs(["s-a"]) == {}
    client, experiment = connect(store)
    assert client.search_runs([experiment]) == []
    log.close(complete=False)
    (parent,) = client.search_runs([experiment])
    assert parent.info.run_name == "s"
    assert "Is it so?" in parent.data.tags["mlflow.note.content"]
    assert "It is not." in parent.data.tags["mlflow.note.content"]
    assert open_log(store).parent() == parent.info.run_id  # opened again, it is the same


def test_the_newest_run_of_each_cell_is_the_cell_s(store: Store) -> None:
    add_run(store, "s-a", "FAILED", 9.0)
    newest = add_run(store, "s-a", loss=2.0)
    add_run(store, "s-other")
    found = open_log(store).runs(["s-a", "s-b"])
    assert found.keys() == {"s-a"}
    assert (found["s-a"].run_id, found["s-a"].finished) == (newest, True)
    assert found["s-a"].metrics["val/best_loss"] == 2.0


def test_an_entered_run_lies_below_the_parent_until_it_is_superseded(store: Store) -> None:
    run_id, log = add_run(store, "s-a"), open_log(store)
    log.enter(run_id, {ARM: "a", FINGERPRINT: "f"})
    assert tags(store, run_id)[STUDY] == "s"
    assert tags(store, run_id)["mlflow.parentRunId"] == log.parent()
    log.supersede(run_id)
    assert log.runs(["s-a"]) == {}
    assert STUDY not in tags(store, run_id)
    assert tags(store, run_id)[ARM] == "a"


def test_of_several_tries_at_a_cell_one_counts(store: Store) -> None:
    first, second = add_run(store, "s-a"), add_run(store, "s-a")
    log = open_log(store)
    log.supersede_others("s-a", first)
    assert log.runs(["s-a"])["s-a"].run_id == first
    assert "candlecast.superseded" in tags(store, second)


def test_the_parent_is_no_training(store: Store) -> None:
    add_run(store, "s-a")
    open_log(store).close(complete=True)
    assert count_trainings(store) == 1


def test_a_training_whose_loss_was_not_finite_says_so(store: Store) -> None:
    run_id = add_run(store, "s-a", "FAILED")
    MlflowClient(store.uri).set_tag(run_id, "failure", "update 3, micro-step 1: the loss is not finite")
    assert "is not finite" in (open_log(store).runs(["s-a"])["s-a"].divergence or "")
