import errno
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from candlecast.errors import DataError
from candlecast.stage import run_stage


def fail() -> None:
    raise DataError("data.tickers: QQQQ is unknown; choose from AAPL, IBM")


def test_an_input_error_is_one_line_and_a_non_zero_exit() -> None:
    with pytest.raises(SystemExit) as exit_:
        run_stage(fail)
    assert exit_.value.code == "error: data.tickers: QQQQ is unknown; choose from AAPL, IBM"


def test_a_full_disk_is_one_line_and_another_system_error_is_not_hidden() -> None:
    def fill() -> None:
        raise OSError(errno.ENOSPC, "No space left on device", "data/model/model.safetensors")

    def lose() -> None:
        raise OSError(errno.EPIPE, "Broken pipe")

    with pytest.raises(SystemExit) as exit_:
        run_stage(fill)
    assert str(exit_.value.code).startswith("error: data/model/model.safetensors: No space left on device")
    with pytest.raises(OSError, match="Broken pipe"):
        run_stage(lose)


@pytest.mark.parametrize(("number", "status"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_a_signal_unwinds_the_stack_so_that_files_and_runs_are_closed(
    tmp_path: Path, number: signal.Signals, status: int
) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        textwrap.dedent("""
        import time
        from candlecast.stage import run_stage

        def main():
            try:
                print("started", flush=True)
                time.sleep(60)
            finally:
                print("closed", flush=True)

        run_stage(main)
        """)
    )
    process = subprocess.Popen([sys.executable, script], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "started\n"
    time.sleep(0.1)
    process.send_signal(number)
    output, _ = process.communicate(timeout=30)
    assert (output, process.returncode) == ("closed\n", status)
