"""Servers that a study on several machines needs, started on loopback for a test and ended with it."""

import os
import pwd
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Any

import pytest
from experiments.clones import ROOT, environment


def free_port() -> int:
    with closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def postgresql_programs() -> Path:
    """Return the folder of initdb and pg_ctl, or skip the test."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    on_path = shutil.which("initdb")
    if not found and not on_path:
        pytest.skip("no PostgreSQL; scripts/install-postgresql installs one")
    return (found[-1] if found else Path(str(on_path))).resolve().parent


@contextmanager
def postgresql() -> Iterator[str]:
    """Run a database server of one's own; yield the address of an empty database."""
    programs = postgresql_programs()
    # PostgreSQL refuses to run as root, and its user may not enter pytest's folders.
    as_user = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []
    folder, port = Path(tempfile.mkdtemp(prefix="candlecast-postgresql-")), free_port()
    if as_user:
        user = pwd.getpwnam("postgres")
        os.chown(folder, user.pw_uid, user.pw_gid)

    def call(program: str, *arguments: str) -> None:
        # Into a file: the server that pg_ctl leaves behind would hold a pipe open.
        with tempfile.TemporaryFile("w+") as said:
            command = [*as_user, str(programs / program), *arguments]
            done = subprocess.run(command, cwd="/", check=False, stdout=said, stderr=subprocess.STDOUT)
            said.seek(0)
            assert done.returncode == 0, said.read()

    data = str(folder / "data")
    settings = f"-c listen_addresses=127.0.0.1 -c fsync=off -p {port} -k {folder}"
    try:
        call("initdb", "--pgdata", data, "--username", "candlecast", "--auth", "trust")
        call("pg_ctl", "--pgdata", data, "--wait", "--options", settings, "start")
        try:
            call("createdb", "--host", "127.0.0.1", "--port", str(port), "--username", "candlecast", "mlflow")
            yield f"postgresql://candlecast@127.0.0.1:{port}/mlflow"
        finally:
            call("pg_ctl", "--pgdata", data, "--wait", "--mode", "immediate", "stop")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def mlflow_server(database: str, folder: Path) -> Iterator[str]:
    """Serve the tracking store in `database` over HTTP, artifacts included; yield the server's address."""
    port = free_port()
    command = [sys.executable, "-m", "mlflow", "server", "--workers", "1", "--host", "127.0.0.1"]
    command += ["--port", str(port), "--backend-store-uri", database]
    command += ["--artifacts-destination", str(folder / "artifacts"), "--serve-artifacts"]
    log = folder / "mlflow.log"
    with log.open("wb") as output:
        server = subprocess.Popen(
            command,
            env=environment()
            | {"MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false", "MLFLOW_DISABLE_TELEMETRY": "true"},
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        end = time.monotonic() + 300
        while not _answers(port):
            assert server.poll() is None, log.read_text()
            assert time.monotonic() < end, log.read_text()
            time.sleep(0.3)
        yield f"http://127.0.0.1:{port}"
    finally:
        os.killpg(server.pid, 15)
        server.wait(timeout=60)


def _answers(port: int) -> bool:
    with closing(HTTPConnection("127.0.0.1", port, timeout=5)) as connection:
        try:
            connection.request("GET", "/health")
            return connection.getresponse().status == 200
        except (OSError, HTTPException):
            return False


@contextmanager
def ray_cluster() -> Iterator[str]:
    """Run a cluster of two nodes of one processor each, as two machines would be; yield its address."""
    variables = {
        "PYTHONPATH": str(ROOT / "src"),  # the package as it is here, wherever it is installed from
        "RAY_USAGE_STATS_ENABLED": "0",
        "RAY_worker_niceness": "0",  # its workers would starve beside another test
        # So that what a killed worker had started ends with it.
        "RAY_kill_child_processes_on_worker_exit_with_raylet_subreaper": "true",
    }
    command = [str(Path(sys.executable).parent / "ray")]
    port, env = free_port(), environment() | variables
    node = ["--num-cpus", "1", "--object-store-memory", "80000000", "--disable-usage-stats"]
    head = [
        "start",
        "--head",
        "--node-ip-address",
        "127.0.0.1",
        "--port",
        str(port),
        "--include-dashboard",
        "false",
    ]
    quiet: dict[str, Any] = {"env": env, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    nodes = [subprocess.Popen([*command, *head, *node, "--block"], start_new_session=True, **quiet)]
    try:
        end = time.monotonic() + 120
        ask = [*command, "health-check", "--address", f"127.0.0.1:{port}"]
        while subprocess.run(ask, check=False, **quiet).returncode:
            assert time.monotonic() < end, "the cluster's head did not start"
            time.sleep(0.5)
        join = ["start", "--address", f"127.0.0.1:{port}", *node, "--block"]
        nodes.append(subprocess.Popen([*command, *join], start_new_session=True, **quiet))
        yield f"127.0.0.1:{port}"
    finally:
        for process in nodes:
            process.terminate()
        for process in nodes:
            process.wait(timeout=60)
