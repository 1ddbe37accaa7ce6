"""One cell on a machine that has the environment and nothing else: clone, pull, run, push."""

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from candlecast.errors import StudyError


@dataclass(frozen=True, slots=True)
class Order:
    """All that another machine needs to know of a cell."""

    name: str
    url: str  # of the git remote, as that machine reaches it
    revision: str
    assignments: tuple[str, ...]
    targets: tuple[str, ...]
    variables: Mapping[str, str]  # of the environment: where MLflow answers, how many threads


def run_order(order: Order) -> None:
    """Run the cell in a clone of its own, and push what it made to the git remote and the DVC remote.

    Nothing is left on the machine. The experiment appears on the git remote only when it is whole, so a
    machine that is lost at any moment leaves no half of one, and the order can be carried out again.

    Raises
    ------
    StudyError
        With the step that failed and the last line of what it said.
    """
    folder = Path(tempfile.mkdtemp(prefix=f"{order.name}-"))
    try:
        _call(order, folder, ["git", "clone", "--quiet", order.url, "."])
        _call(order, folder, ["git", "checkout", "--quiet", "--detach", order.revision])
        _call(order, folder, ["dvc", "pull", "--quiet", "--run-cache", "--allow-missing"])
        settings = [word for assignment in order.assignments for word in ("-S", assignment)]
        _call(order, folder, ["dvc", "exp", "run", "--name", order.name, *settings, *order.targets])
        # With force: an earlier try may have pushed the reference and died before it could say so.
        _call(order, folder, ["dvc", "exp", "push", "--force", "--quiet", "origin", order.name])
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _call(order: Order, folder: Path, command: Sequence[str]) -> None:
    # The shell adds to the environment it finds there; dvc and python are those of this interpreter.
    variables = [f"{name}={value}" for name, value in order.variables.items()]
    with_path = ["sh", "-c", 'PATH="$0:$PATH" exec env "$@"', str(Path(sys.executable).parent), *variables]
    done = subprocess.run(  # noqa: S603 - our own arguments
        [*with_path, *command],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        check=False,
    )
    if done.returncode:
        said = [line.strip() for line in done.stdout.splitlines() if line.strip()]
        errors = [line for line in said if line.lower().startswith(("error: ", "fatal: "))]
        last = errors or said or [f"status {done.returncode}"]
        raise StudyError(f"{' '.join(command[:3])}: {last[0] if errors else last[-1]}")
