import http.client
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from candlecast.cli import build_parser, main
from candlecast.commands.place import repository_root
from candlecast.errors import CandlecastError

# A shell that runs the tests in the background makes its children ignore Ctrl-C; a terminal does not.
RUN = (
    "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler); "
    "from candlecast.cli import main; main(sys.argv[1:])"
)


def test_help_lists_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="0"):
        main(["--help"])
    assert "open the tracking store in MLflow" in capsys.readouterr().out


def test_the_parser_is_made_without_mlflow_or_torch() -> None:
    code = (
        "import sys, candlecast.cli as cli; cli.build_parser(); print({'mlflow', 'torch'} & {*sys.modules})"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout == "set()\n"


def test_a_command_is_required(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        build_parser().parse_args([])
    assert "command" in capsys.readouterr().err


def test_the_repository_is_found_from_a_folder_inside_it(tmp_path: Path) -> None:
    (tmp_path / "dvc.yaml").touch()
    inside = tmp_path / "data" / "raw"
    inside.mkdir(parents=True)
    assert repository_root(inside) == tmp_path


def test_outside_a_repository_the_error_says_where_to_go(tmp_path: Path) -> None:
    with pytest.raises(CandlecastError, match=r"change to the folder with dvc.yaml"):
        repository_root(tmp_path)


def test_a_taken_port_is_one_line_with_the_remedy(repository: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        done = subprocess.run(
            [sys.executable, "-c", RUN, "ui", "--port", port], check=False, capture_output=True, text=True
        )
    assert done.returncode == 1
    assert done.stderr == (
        f"error: --port: {port} is taken by another program; name another, or 0 for any that is free\n"
    )


def test_a_server_elsewhere_is_named_without_its_password(repository: Path) -> None:
    environ = {**os.environ, "MLFLOW_TRACKING_URI": "https://me:hidden@mlflow.example"}
    command = [sys.executable, "-c", RUN, "ui"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environ)
    assert done.stdout == "MLFLOW_TRACKING_URI names a server; open https://mlflow.example\n"


def test_nothing_to_compare_is_one_line(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["compare"])
    assert str(ended.value) == (
        "error: compare: name a study or runs, or give --filter; candlecast compare --help"
    )


@contextmanager
def running_ui() -> Iterator[tuple[subprocess.Popen[str], str]]:
    """`candlecast ui` on a free port, and its host and port once it has printed them."""
    command = [sys.executable, "-c", RUN, "ui", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline().startswith("Starting MLflow on sqlite:///")
            line = process.stdout.readline()
            yield process, line.split()[1].removeprefix("http://").partition("/")[0]
        finally:
            process.terminate()  # its children end with it; no effect after a test that went well


@pytest.mark.slow
def test_the_ui_answers_at_its_url_and_ends_with_its_children(repository: Path) -> None:
    with running_ui() as (process, address):
        connection = http.client.HTTPConnection(address, timeout=30)
        connection.request("GET", "/")
        answer = connection.getresponse()
        assert (answer.status, b"MLflow" in answer.read()) == (200, True)
        connection.close()
        children = psutil.Process(process.pid).children(recursive=True)
        assert 1 <= len(children) <= 3
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=30) == 0
        assert process.stdout is not None
        assert process.stdout.read() == "MLflow has ended.\n"
    assert not [child for child in children if child.is_running()]
    assert not (repository / "mlruns").exists()
