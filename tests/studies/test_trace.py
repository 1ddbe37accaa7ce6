import subprocess
from pathlib import Path

import pytest
from mlflow import MlflowClient
from tracking.migrated import migrated_store

from candlecast.errors import TrackingError
from candlecast.studies.trace import trace
from candlecast.tracking.backend import connect
from candlecast.tracking.store import Store

TRAINED = "0123456789abcdef0123456789abcdef"


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    identity = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    for arguments in (["init", "--quiet"], ["commit", "--quiet", "--allow-empty", "--message", "first"]):
        subprocess.run(["git", *identity, *arguments], cwd=tmp_path, check=True)
    return tmp_path


@pytest.fixture
def head(repository: Path) -> str:
    return subprocess.check_output(["git", "rev-parse", "HEAD"], cwd=repository, text=True).strip()


@pytest.fixture
def store(repository: Path, migrated: Path) -> Store:
    return migrated_store(migrated, repository)


def experiment(repository: Path, head: str, name: str) -> None:
    ref = f"refs/exps/{head[:2]}/{head[2:]}/{name}"
    subprocess.run(["git", "update-ref", ref, head], cwd=repository, check=True)


def run(client: MlflowClient, place: str, name: str, **tags: str) -> str:
    dotted = {tag.replace("__", "."): value for tag, value in tags.items()}
    return str(client.create_run(place, tags=dotted, run_name=name).info.run_id)


def test_a_name_a_commit_and_a_run_lead_to_each_other(repository: Path, head: str, store: Store) -> None:
    client, place = connect(store)
    experiment(repository, head, "grid-1")
    wanted = run(client, place, "16x8", dvc__experiment="grid-1", dvc__baseline=head)
    run(client, place, "16x1", dvc__experiment="grid-2", dvc__baseline=head)
    traces = [trace(repository, store, name) for name in ("grid-1", head[:7], wanted)]
    assert {each.found.run.info.run_id for each in traces} == {wanted}
    for each in traces:
        text = "\n".join(each.lines())
        assert f"{wanted}  16x8" in text
        assert f"grid-1, results in commit {head[:10]} on {head[:10]}" in text
        assert "dvc exp apply grid-1" in text
        assert "trained by      this run" in text
        assert f"/#/experiments/{place}/runs/{wanted}" in each.page


def test_of_a_name_used_on_two_baselines_the_repository_s_own_run_is_meant(
    repository: Path, head: str, store: Store
) -> None:
    client, place = connect(store)
    experiment(repository, head, "same")
    wanted = run(client, place, "here", dvc__experiment="same", dvc__baseline=head)
    run(client, place, "elsewhere", dvc__experiment="same", dvc__baseline="0" * 40)
    assert trace(repository, store, "same").found.run.info.run_id == wanted


def test_a_run_of_repro_names_its_commit(repository: Path, store: Store) -> None:
    client, place = connect(store)
    wanted = run(client, place, "plain", mlflow__source__git__commit="abcdef0123456789")
    text = "\n".join(trace(repository, store, wanted).lines())
    assert "none: a run of dvc repro, on commit abcdef0123" in text


def test_a_restored_training_names_the_run_that_trained(repository: Path, head: str, store: Store) -> None:
    client, place = connect(store)
    experiment(repository, head, "again")
    run(client, place, "again", dvc__experiment="again", dvc__baseline=head, restored__from=TRAINED)
    text = "\n".join(trace(repository, store, "again").lines())
    assert f"trained by      run {TRAINED}, from which DVC restored it" in text


def test_a_run_whose_experiment_is_elsewhere_says_how_to_fetch_it(repository: Path, store: Store) -> None:
    client, place = connect(store)
    wanted = run(client, place, "far", dvc__experiment="far-away", dvc__baseline="1" * 40)
    text = "\n".join(trace(repository, store, wanted).lines())
    assert "far-away, not in this repository" in text
    assert "dvc exp pull origin far-away" in text


@pytest.mark.parametrize("name", ["nothing", "f" * 32, "it's", "a b", "%", ""])
def test_a_name_nobody_knows_is_an_error_with_a_way_on(repository: Path, store: Store, name: str) -> None:
    with pytest.raises(TrackingError, match=r"neither a run's id, a DVC experiment nor .* dvc exp show"):
        trace(repository, store, name)


def test_an_experiment_that_logged_elsewhere_is_an_error(repository: Path, head: str, store: Store) -> None:
    experiment(repository, head, "lost")
    with pytest.raises(TrackingError, match="lost: a DVC experiment without a run"):
        trace(repository, store, "lost")
