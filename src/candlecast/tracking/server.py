"""MLflow's pages on this machine, started light and ended with everything it started."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from urllib.parse import urlencode

from candlecast.errors import TrackingError
from candlecast.tracking.store import Store

HOST = "127.0.0.1"


def address(store: Store, port: int) -> str:
    """Return where the store's pages are: on its own server, or on `port` here while `serve` runs."""
    return store.name.rstrip("/") if store.is_server else f"http://{HOST}:{port}"


def choose_port(port: int) -> int:
    """Return `port`, or a free one for 0; raise `TrackingError` when another program has it."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError:
            raise TrackingError(
                f"--port: {port} is taken by another program; name another, or 0 for any that is free"
            ) from None
        free: int = probe.getsockname()[1]
        return free


def charts_page(experiment: str) -> str:
    """Return the path of the page that draws all runs of an experiment; MLflow's own choice shows none."""
    return f"/#/experiments/{experiment}/runs?workflowType=machine_learning&compareRunsMode=CHART"


def run_page(experiment: str, run_id: str, part: str = "") -> str:
    """Return the path of one run's page, or of a part of it such as `/artifacts/report.html`."""
    return f"/#/experiments/{experiment}/runs/{run_id}{part}?workflowType=machine_learning"


def model_page(experiment: str, model_id: str) -> str:
    """Return the path of the page of a run's model."""
    return f"/#/experiments/{experiment}/models/{model_id}?workflowType=machine_learning"


def compare_page(experiment: str, run_ids: Sequence[str]) -> str:
    """Return the path of the page that lays parameters and scores of some runs side by side."""
    query = {"runs": json.dumps([*run_ids]), "experiments": json.dumps([experiment])}
    return f"/#/compare-runs?{urlencode(query)}&workflowType=machine_learning"


@contextmanager
def serve(
    store: Store, environ: Mapping[str, str], port: int, ready_seconds: float = 180.0
) -> Iterator[tuple[subprocess.Popen[bytes], str]]:
    """Serve `store` on loopback; yield the process and its URL once it answers.

    MLflow's job runner, which this project has no use for, stays off: with it a start takes eleven
    processes and 2 GB of memory.
    """
    log = store.root / ".cache" / "mlflow-server.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "mlflow", "server", "--workers", "1"]
    command += ["--host", HOST, "--port", str(port)]
    settings = {"MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false", "MLFLOW_BACKEND_STORE_URI": store.uri}
    if store.artifacts is not None:
        settings["MLFLOW_DEFAULT_ARTIFACT_ROOT"] = store.artifacts
    with log.open("wb") as output:
        process = subprocess.Popen(  # noqa: S603 - our own interpreter, fixed arguments
            command,
            env={**environ, **settings},
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # a group of its own, so that its children end with it
        )
    try:
        _wait_until_ready(process, port, log, ready_seconds)
        yield process, f"http://{HOST}:{port}"
    finally:
        _end_group(process)


def _wait_until_ready(process: subprocess.Popen[bytes], port: int, log: Path, seconds: float) -> None:
    end = time.monotonic() + seconds
    while not _answers(port):
        if process.poll() is not None or time.monotonic() > end:
            last = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()[-1:]
            raise TrackingError(f"MLflow did not start: {' '.join(last) or 'it said nothing'}; see {log}")
        time.sleep(0.2)


def _answers(port: int) -> bool:
    connection = HTTPConnection(HOST, port, timeout=5)
    try:
        connection.request("GET", "/health")
        return connection.getresponse().status == 200
    except (OSError, HTTPException):
        return False
    finally:
        connection.close()


def _end_group(process: subprocess.Popen[bytes]) -> None:
    for how in (signal.SIGTERM, signal.SIGKILL):
        with suppress(ProcessLookupError):
            os.killpg(process.pid, how)
        with suppress(subprocess.TimeoutExpired):
            process.wait(timeout=10)
            return
