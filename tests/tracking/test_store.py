import os
import subprocess
import sys
from pathlib import Path

import pytest
from mlflow.utils.file_utils import local_file_uri_to_path
from sqlalchemy import create_engine

from candlecast.errors import TrackingError
from candlecast.tracking.store import Store, quiet, tracking_store


def test_the_store_lies_in_the_repository_when_nothing_else_is_said(tmp_path: Path) -> None:
    store = tracking_store({}, tmp_path)
    assert store == Store(f"sqlite:///{tmp_path}/mlflow.db", tmp_path, f"file://{tmp_path}/mlartifacts")
    assert store.database == tmp_path / "mlflow.db"


def test_an_experiment_in_a_temporary_clone_uses_the_repository_it_was_started_from(tmp_path: Path) -> None:
    clone = tmp_path / ".dvc" / "tmp" / "exps" / "tmp1"
    assert tracking_store({"DVC_ROOT": str(tmp_path)}, clone) == tracking_store({}, tmp_path)


def test_the_user_s_address_wins(tmp_path: Path) -> None:
    environ = {"MLFLOW_TRACKING_URI": "http://127.0.0.1:5000", "DVC_ROOT": str(tmp_path)}
    store = tracking_store(environ, tmp_path)
    assert (store.uri, store.artifacts, store.database) == ("http://127.0.0.1:5000", None, None)


def test_another_sqlite_file_keeps_its_artifacts_beside_it(tmp_path: Path) -> None:
    store = tracking_store({"MLFLOW_TRACKING_URI": f"sqlite:///{tmp_path}/shared/runs.db"}, tmp_path / "a")
    assert store.artifacts == f"file://{tmp_path}/shared/mlartifacts"


@pytest.mark.parametrize("name", ["a b", "Zürich 東京", "50%", "a%20b", "a?b=c", "a#b", "it's", "a@b"])
def test_any_name_of_the_repository_s_folder_is_that_folder(name: str, tmp_path: Path) -> None:
    root = tmp_path / name
    root.mkdir()
    store = tracking_store({}, root)
    assert store.database == root / "mlflow.db"
    # As SQLAlchemy and MLflow read the addresses.
    engine = create_engine(store.uri)
    with engine.connect():
        pass
    engine.dispose()
    assert (root / "mlflow.db").exists()
    assert store.artifacts is not None
    assert local_file_uri_to_path(store.artifacts) == str(root / "mlartifacts")


@pytest.mark.parametrize("uri", ["sqlite:///mlflow.db", "./mlruns", "mlruns"])
def test_an_address_that_depends_on_the_folder_is_refused(uri: str, tmp_path: Path) -> None:
    with pytest.raises(TrackingError, match=r"^MLFLOW_TRACKING_URI: .*unset it$"):
        tracking_store({"MLFLOW_TRACKING_URI": uri}, tmp_path)


@pytest.mark.parametrize(
    ("uri", "name"),
    [
        ("postgresql://me:pazzw0rd@db.example:5432/mlflow", "postgresql://db.example:5432/mlflow"),
        ("postgresql://host/db?user=u&password=pazzw0rd", "postgresql://host/db"),
        ("postgresql://u:p@host/db?password=p@zzw0rd", "postgresql://***"),
        ("https://host/?token=pazzw0rd", "https://host/"),
        ("https://host/?token=p@zzw0rd", "https://***"),
        ("https://host:5000/mlflow#pazzw0rd", "https://host:5000/mlflow"),
        ("http://user:pazz/w0rd@host/", "http://host/"),
        ("mysql://u:pazz#w0rd@host/db", "mysql://host/db"),
        ("mysql://u:p@zzw0rd@host/db", "mysql://host/db"),
        ("https://u:pazz?w0rd@host", "https://host"),
        ("https://u:12?w0rd@host", "https://***"),
        ("https://u:pazz?w0rd@host/db?password=p@zzw0rd", "https://***"),
        ("https://:pazzw0rd@host", "https://host"),
        ("https://pazzw0rd@host", "https://host"),
        ("user:pazzw0rd@host:5000", "***"),
        ("user:p://zzw0rd@host:5000", "***"),
        ("sqlite:///mlflow.db", "sqlite:///mlflow.db"),
        ("sqlite:////home/a@b/mlflow.db?key=pazzw0rd", "sqlite:////home/a@b/mlflow.db"),
        ("sqlite:///u:pazzw0rd@host", "sqlite://host"),
    ],
)
def test_a_secret_in_the_address_is_never_shown(uri: str, name: str, tmp_path: Path) -> None:
    store = Store(uri, tmp_path, None)
    assert store.name == name
    assert "zzw0rd" not in repr(store)


@pytest.mark.parametrize("uri", ["user:pazzw0rd@host:5000", "sqlite:///mlflow.db?key=pazzw0rd"])
def test_the_refusal_of_an_address_does_not_repeat_its_secret(uri: str, tmp_path: Path) -> None:
    with pytest.raises(TrackingError, match=r"^MLFLOW_TRACKING_URI: ") as caught:
        tracking_store({"MLFLOW_TRACKING_URI": uri}, tmp_path)
    assert "pazzw0rd" not in str(caught.value)


def test_telemetry_is_off_and_the_user_s_waits_are_kept() -> None:
    environ = {"MLFLOW_DISABLE_TELEMETRY": "false", "MLFLOW_HTTP_REQUEST_TIMEOUT": "5"}
    quiet(environ)
    assert environ["MLFLOW_DISABLE_TELEMETRY"] == "true"
    assert environ["MLFLOW_HTTP_REQUEST_TIMEOUT"] == "5"
    assert environ["MLFLOW_HTTP_REQUEST_MAX_RETRIES"] == "2"


def test_telemetry_stops_even_when_mlflow_was_imported_before() -> None:
    code = (
        "import os, mlflow.telemetry\n"
        "from candlecast.tracking.store import quiet\n"
        "quiet(os.environ)\n"
        "assert mlflow.telemetry.get_telemetry_client() is None\n"
    )
    # The variables by which MLflow recognises a test would switch it off as well.
    hidden = ("PYTEST_", "CI", "GITHUB", "MLFLOW", "DO_NOT_TRACK")
    environ = {name: value for name, value in os.environ.items() if not name.startswith(hidden)}
    subprocess.run([sys.executable, "-c", code], env=environ, check=True)


def test_the_location_is_known_without_importing_mlflow() -> None:
    code = "import sys, candlecast.tracking.store; assert 'mlflow' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
