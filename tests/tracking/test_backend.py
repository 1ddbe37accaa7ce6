import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from candlecast.errors import TrackingError
from candlecast.tracking.backend import connect, process_tags, sweep
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
