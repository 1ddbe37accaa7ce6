import json
import math
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import dvc_deps
import mlflow.pyfunc
import pandas as pd
import pytest
from forecasting.made import Made
from forecasting.made_bars import as_table
from mlflow import MlflowClient
from mlflow.exceptions import MlflowException
from parameters import ROOT

from candlecast.forecasting.table import example_table
from candlecast.tracking.backend import connect
from candlecast.tracking.evaluation import EvaluationLog
from candlecast.tracking.kept_model import keep_model
from candlecast.tracking.model_log import REQUIREMENTS, log_forecaster, models_of, requirements, save_served
from candlecast.tracking.server import choose_port
from candlecast.tracking.store import Store

Table = dict[str, list[Any]]
IMPORTED_AS = {"ruamel": "ruamel-yaml"}


def example_of(made: Made) -> Table:
    return example_table(made.bars, made.forecaster.bars_needed)


@pytest.fixture(scope="session")
def served(made: Made, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("served") / "model"
    save_served(path, made.folder, example_of(made))
    return path


@pytest.fixture
def run(store: Store) -> tuple[MlflowClient, str, str]:
    client, experiment = connect(store)
    return client, experiment, client.create_run(experiment).info.run_id


def test_the_run_gets_one_whole_model_however_often_it_is_evaluated(
    run: tuple[MlflowClient, str, str], made: Made
) -> None:
    client, experiment, run_id = run
    first = log_forecaster(client, run_id, made.folder, example_of(made))
    again = log_forecaster(client, run_id, made.folder, example_of(made))
    assert [model.model_id for model in models_of(client, experiment, run_id)] == [first.model_id]
    assert again.model_id == first.model_id
    outputs = client.get_run(run_id).outputs.model_outputs
    assert [output.model_id for output in outputs] == [first.model_id]


def test_a_store_that_is_away_costs_a_warning_and_no_result(
    run: tuple[MlflowClient, str, str],
    made: Made,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    client, _, run_id = run

    def away(*_: object, **__: object) -> None:
        raise OSError("no answer")

    monkeypatch.setattr(client, "create_logged_model", away)
    keep_model(EvaluationLog(client, run_id), made.folder, example_of(made))
    assert "the model is not in the tracking store: no answer" in caplog.text


def test_nothing_in_the_model_is_a_pickle(served: Path) -> None:
    suffixes = {path.suffix for path in served.rglob("*") if path.is_file() and path.name != "MLmodel"}
    assert suffixes == {".json", ".safetensors", ".py", ".txt", ".yaml"}


def test_the_requirements_are_what_the_lock_pins_and_what_the_code_imports(served: Path) -> None:
    lock = (ROOT / "requirements.lock").read_text().splitlines()
    assert set(requirements()) <= set(lock)
    assert (served / "requirements.txt").read_text().splitlines() == requirements()
    code = served / "code" / "candlecast"
    files = [served / "served_model.py", *code.rglob("*.py")]
    imported = {module.split(".")[0] for file in files for module in dvc_deps.imports(file)}
    others = {IMPORTED_AS.get(name, name) for name in imported - {*sys.stdlib_module_names, "candlecast"}}
    assert others == set(REQUIREMENTS)
    assert not (code / "report").exists()


def test_the_model_runs_the_code_it_carries_and_imports_no_more_than_it_lists(
    served: Path, made: Made, tmp_path: Path
) -> None:
    (tmp_path / "table.json").write_text(json.dumps(example_of(made), default=str))
    code = (
        "import sys, json, mlflow.pyfunc, pandas as pd\n"
        f"model = mlflow.pyfunc.load_model({str(served)!r})\n"
        "table = pd.DataFrame(json.load(open('table.json')))\n"
        "model.predict(table)\n"
        "import candlecast\n"
        "print(candlecast.__file__)\n"
        "print({'sklearn', 'statsmodels', 'arch', 'matplotlib', 'dvc'} & {*sys.modules})\n"
    )
    environ = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    environ["MLFLOW_ALLOW_PICKLE_DESERIALIZATION"] = "false"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env=environ, check=True, capture_output=True, text=True
    )
    place, modules = done.stdout.splitlines()[-2:]
    assert place.startswith(str(served / "code"))
    assert "dvc" not in modules
    assert "statsmodels" not in modules


def test_the_model_says_what_the_forecaster_says(served: Path, made: Made) -> None:
    model = mlflow.pyfunc.load_model(str(served))
    table = pd.DataFrame(as_table(made.bars)).astype({"date": str})
    latest = model.predict(table)
    expected = made.forecaster.latest(made.bars)
    assert latest["ticker"].tolist() == expected["ticker"].to_list()
    assert latest["date"].tolist() == [str(date) for date in expected["date"]]
    assert latest["forecast_return"].tolist() == expected["forecast_return"].to_list()
    assert latest["probability_up"].tolist() == expected["probability_up"].to_list()
    assert len(model.predict(table, params={"every_date": True})) == made.forecaster.every(made.bars).height
    with pytest.raises(MlflowException, match="has a negative volume"):
        model.predict(table.assign(volume=-table["volume"]))


@pytest.fixture(scope="module")
def service(served: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Yield the address of `mlflow models serve`, on loopback."""
    port = choose_port(0)
    command = [sys.executable, "-m", "mlflow", "models", "serve", "--model-uri", str(served)]
    command += ["--host", "127.0.0.1", "--port", str(port), "--env-manager", "local"]
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    environ = {**os.environ, "PATH": path, "MLFLOW_DISABLE_TELEMETRY": "true", "OMP_NUM_THREADS": "1"}
    folder = tmp_path_factory.mktemp("service")
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            command, cwd=folder, env=environ, stdout=log, stderr=log, start_new_session=True
        )
    address = f"http://127.0.0.1:{port}"
    try:
        end = time.monotonic() + 240
        while ask(f"{address}/ping")[0] != 200:
            text = (folder / "log").read_text()
            assert process.poll() is None, text
            assert time.monotonic() < end, text
            time.sleep(0.2)
        yield address
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait(timeout=30)


def ask(url: str, body: bytes | None = None, kind: str = "application/json") -> tuple[int, str]:
    request = urllib.request.Request(url, body, {"Content-Type": kind})
    try:
        with urllib.request.urlopen(request, timeout=120) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()
    except OSError as error:
        return 0, str(error)


def split_of(table: Table) -> bytes:
    rows = [list(row) for row in zip(*table.values(), strict=True)]
    return json.dumps({"dataframe_split": {"columns": [*table], "data": rows}}, default=str).encode()


@pytest.mark.slow
def test_the_service_answers_a_client(service: str, made: Made) -> None:
    expected = made.forecaster.latest(made.bars)
    table = as_table(made.bars)
    status, text = ask(f"{service}/invocations", split_of(table))
    assert status == 200, text
    rows = json.loads(text)["predictions"]
    assert [(row["ticker"], row["date"]) for row in rows] == [
        (row[0], str(row[1])) for row in expected.select("ticker", "date").iter_rows()
    ]
    for row, value in zip(rows, expected["forecast_return"], strict=True):
        assert row["forecast_return"] == pytest.approx(value, abs=1e-6)
    csv = pd.DataFrame(table).to_csv(index=False).encode()
    assert ask(f"{service}/invocations", csv, "text/csv") == (status, text)


def without(name: str) -> Callable[[Table], None]:
    def change(table: Table) -> None:
        table.pop(name)

    return change


def rename(table: Table) -> None:
    table["Close"] = table.pop("close")


def put(name: str, value: Any) -> Callable[[Table], None]:
    def change(table: Table) -> None:
        table[name][50] = value

    return change


def shorten(table: Table) -> None:
    for column in table.values():
        del column[40:]


def repeat(table: Table) -> None:
    table["date"][50] = table["date"][49]


def exchange(table: Table) -> None:
    table["date"][50], table["date"][51] = table["date"][51], table["date"][50]


def empty(table: Table) -> None:
    for column in table.values():
        column.clear()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (shorten, "AAA: 40 bars without a gap"),
        (without("volume"), "missing inputs ['volume']"),
        (rename, "extra inputs: ['Close']"),
        (put("close", None), "a price or a volume that is missing, NaN or infinite"),
        (put("close", math.nan), "a price or a volume that is missing, NaN or infinite"),
        (put("close", "dear"), "close"),
        (put("ticker", None), "is no ticker"),
        (put("date", None), "is no date"),
        (put("date", "soon"), "'soon' is no date"),
        (put("low", 0.0), "a price of zero or below"),
        (put("high", 0.01), "a high below"),
        (repeat, "is there twice"),
        (exchange, "comes after a later one"),
        (empty, "no rows"),
    ],
)
def test_a_table_it_cannot_use_is_a_4xx_with_the_reason(
    service: str, made: Made, change: Callable[[Table], None], reason: str
) -> None:
    table = example_of(made)
    change(table)
    status, text = ask(f"{service}/invocations", split_of(table))
    assert status in {400, 422}, text
    assert reason in json.loads(text)["message"]
    assert "Traceback" not in text


@pytest.mark.slow
@pytest.mark.parametrize("body", [b"", b"[", b"{}", b'{"dataframe_split": 3}', b'{"inputs": []}'])
def test_a_body_that_is_no_table_is_a_4xx(service: str, body: bytes) -> None:
    status, text = ask(f"{service}/invocations", body)
    assert 400 <= status < 500, text
