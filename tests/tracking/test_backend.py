import errno
import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from mlflow.exceptions import MlflowException

from candlecast.errors import TrackingError
from candlecast.tracking.backend import answering, connect, process_tags, sweep
from candlecast.tracking.store import Store, tracking_store

LOG_ONE_RUN = """
import os, sys
from pathlib import Path
from candlecast.tracking.backend import connect
from candlecast.tracking.store import quiet, tracking_store
quiet(os.environ)
print("ready", flush=True)
sys.stdin.readline()
client, experiment = connect(tracking_store({}, Path(sys.argv[1])))
run = client.create_run(experiment).info.run_id
client.log_text(run, sys.argv[2], "note.txt")
client.set_terminated(run)
print(run)
"""


def test_two_processes_that_open_a_fresh_store_at_once_both_log(tmp_path: Path) -> None:
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", LOG_ONE_RUN, str(tmp_path), name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for name in ("first", "second")
    ]
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"  # both have imported everything
    outputs = [process.communicate("go\n", timeout=120) for process in processes]
    assert [process.returncode for process in processes] == [0, 0], outputs
    client, experiment = connect(tracking_store({}, tmp_path))
    runs = client.search_runs([experiment])
    assert {run.info.run_id for run in runs} == {stdout.strip() for stdout, _ in outputs}
    assert {run.info.status for run in runs} == {"FINISHED"}
    notes = {Path(client.download_artifacts(run.info.run_id, "note.txt")).read_text() for run in runs}
    assert notes == {"first", "second"}


def test_artifacts_lie_at_an_absolute_place_whatever_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    client, experiment = connect(tracking_store({}, tmp_path))
    client.create_run(experiment)
    with sqlite3.connect(tmp_path / "mlflow.db") as connection:
        places = dict(connection.execute("select name, artifact_location from experiments").fetchall())
    connection.close()
    assert places["candlecast"] == f"file://{tmp_path}/mlartifacts/candlecast"
    assert places["Default"].startswith(f"file://{tmp_path}/mlartifacts/")
    assert not list(elsewhere.iterdir())


def test_the_experiment_is_made_once(store: Store) -> None:
    assert connect(store)[1] == connect(store)[1]


def test_a_server_that_is_away_is_one_line_without_the_password(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "0")
    with pytest.raises(TrackingError) as caught:
        connect(Store("http://me:hidden@127.0.0.1:9", Path(), None))
    assert "hidden" not in str(caught.value)
    assert str(caught.value).startswith("http://127.0.0.1:9: the tracking store does not answer")
    assert "\n" not in str(caught.value)


def test_a_file_that_is_no_database_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "mlflow.db").write_text("this is a text file, longer than a sqlite header, by far " * 20)
    with pytest.raises(TrackingError, match=r"mlflow.db: the tracking store does not answer"):
        connect(tracking_store({}, tmp_path))


def test_a_file_in_the_place_of_the_repository_s_cache_is_named(store: Store) -> None:
    (store.root / "blocked").write_text("")
    blocked = Store(f"sqlite:///{store.root}/blocked/mlflow.db", store.root, store.artifacts)
    with pytest.raises(TrackingError, match=r"/blocked: .*; what belongs to the tracking store"):
        connect(blocked)


def test_a_database_that_may_not_be_written_is_refused_at_once(tmp_path: Path) -> None:
    (tmp_path / "mlflow.db").mkdir()
    with pytest.raises(TrackingError, match=r"mlflow.db: Is a directory; .* make it writable"):
        connect(tracking_store({}, tmp_path))


def test_a_missing_driver_is_one_line_that_names_it() -> None:
    with pytest.raises(TrackingError) as caught:
        connect(Store("mysql://me:hidden@127.0.0.1:9/mlflow", Path(), None))
    said = str(caught.value)
    assert "the address needs the package that brings MySQLdb; install it with pip" in said
    assert said.startswith("mysql://127.0.0.1:9/mlflow: ")
    assert "hidden" not in said


def test_a_database_that_another_program_holds_is_said_to_be_locked(store: Store) -> None:
    assert store.database is not None
    waiting = Store(f"{store.uri}?timeout=0.1", store.root, store.artifacts)
    holder = sqlite3.connect(store.database, isolation_level=None)
    client, experiment = connect(waiting)
    holder.execute("begin exclusive")
    try:
        with (
            pytest.raises(TrackingError, match=r"database is locked.*another program holds the database"),
            answering(waiting),
        ):
            client.create_run(experiment)
    finally:
        holder.execute("rollback")
        holder.close()


@pytest.mark.parametrize(
    ("said", "remedy"),
    [
        ("(sqlite3.OperationalError) database or disk is full", "free the disk and run again"),
        (
            "(raised as a result of Query-invoked autoflush; consider this)\n"
            "(sqlite3.OperationalError) database or disk is full",
            "(sqlite3.OperationalError) database or disk is full); free the disk and run again",
        ),
        (
            "(sqlite3.OperationalError) attempt to write a readonly database",
            "make the file and its",
        ),
        ("Detected out-of-date database schema (found version 1)", "run mlflow db upgrade"),
        ("HTTPConnectionPool: Max retries exceeded", "start the server, correct MLFLOW_TRACKING_URI"),
    ],
)
def test_each_refusal_comes_with_its_own_remedy(store: Store, said: str, remedy: str) -> None:
    with pytest.raises(TrackingError) as caught, answering(store):
        raise MlflowException(said)
    assert remedy in str(caught.value)


def test_a_full_disk_is_named_with_its_file(store: Store) -> None:
    with pytest.raises(TrackingError, match=r"/a/b.json: No space left on device"), answering(store):
        raise OSError(errno.ENOSPC, "No space left on device", "/a/b.json")


def test_the_sweep_ends_runs_of_dead_processes_and_no_others(store: Store) -> None:
    client, experiment = connect(store)
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    mine = process_tags()
    tags = {
        "alive": mine,
        "gone": mine | {"process.id": str(gone.pid)},
        "reused": mine | {"process.started": "1.00"},
        "elsewhere": mine | {"process.host": "another-machine", "process.id": str(gone.pid)},
    }
    runs = {name: client.create_run(experiment, tags=tag).info.run_id for name, tag in tags.items()}
    assert os.getpid() == int(mine["process.id"])
    assert set(sweep(client, experiment)) == {runs["gone"], runs["reused"]}
    status = {name: client.get_run(run).info.status for name, run in runs.items()}
    assert status == {"alive": "RUNNING", "gone": "KILLED", "reused": "KILLED", "elsewhere": "RUNNING"}
