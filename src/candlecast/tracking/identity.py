"""What a run was made of: the DVC experiment, the commit, the data. Nothing secret passes."""

import hashlib
import re
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from candlecast.tracking.redaction import REDACTED, redact
from candlecast.training.records import TrainingPlan

CODE = ("src", "pipeline", "dvc.yaml")  # params.yaml is logged as parameters
MAX_DIFF = 200_000  # characters


def first_line(error: BaseException) -> str:
    """Return what an error says, in one line without secrets."""
    lines = str(error).strip().splitlines()
    # SQLAlchemy may say first when it sent the statement, and only then what the database answered.
    said = [line for line in lines if not line.startswith("(raised as a result of")]
    return redact((said or lines or [type(error).__name__])[0])


def flatten(params: Mapping[str, Any], prefix: str = "") -> dict[str, str]:
    """Return nested parameters as dotted names and text: lists joined by commas, None as `null`."""
    flat: dict[str, str] = {}
    for key, value in params.items():
        name = f"{prefix}{key}"
        if isinstance(value, Mapping):
            flat |= flatten(value, f"{name}.")
        elif value is None:
            flat[name] = "null"
        else:
            shown = ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
            # The name alone may say that the value is a secret.
            flat[name] = REDACTED if redact(f"{name}=") == REDACTED else redact(shown)
    return flat


def dvc_tags(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the tags that lead from a run to its DVC experiment; empty outside DVC.

    Experiments queued together as `grid-1`, `grid-2`, ... share `dvc.batch`.
    """
    names = {
        "dvc.experiment": "DVC_EXP_NAME",
        "dvc.baseline": "DVC_EXP_BASELINE_REV",
        "dvc.stage": "DVC_STAGE",
    }
    tags = {tag: environ[name] for tag, name in names.items() if environ.get(name)}
    if "dvc.experiment" in tags:
        tags["dvc.batch"] = re.sub(r"-\d+$", "", tags["dvc.experiment"])
    return tags


def run_name(params: Mapping[str, Any], plan: TrainingPlan | None = None) -> str:
    """Return a name that reads well in a legend, such as `16x8 bf16 lr1e-3 s0`.

    What the parameters leave to the machine is `auto` until the plan of the training says what it became. The
    source of the bars follows where it is not the bundled sample, so that two markets are told apart.
    """
    accum, train = params["accum"], params["train"]
    micro_batch, steps, precision = accum["micro_batch"], accum["steps"], train["precision"]
    if plan is not None:
        micro_batch = plan.micro_batch if micro_batch == "auto" else micro_batch
        precision = plan.precision if precision == "auto" else precision
    if steps is None:
        whole = accum["effective_batch"]
        steps = -(-whole // micro_batch) if isinstance(micro_batch, int) else whole
    rate = short_number(train["peak_lr"])
    source = params.get("data", {}).get("source", "sample")
    market = "" if source == "sample" else f" {source}"
    return f"{micro_batch}x{steps} {precision} lr{rate} s{params['seed']}{market}"


def short_number(value: float) -> str:
    """Return a number as a name carries it.

    >>> [short_number(value) for value in (0.001, 3e-4, 0.0015, 4, 1.0, 100.0)]
    ['1e-3', '3e-4', '0.0015', '4', '1', '100']
    """
    shortest = re.sub(r"e-0*", "e-", f"{value:.0e}")
    return shortest if value < 1 and float(shortest) == value else f"{value:g}"


@dataclass(frozen=True, slots=True)
class CodeState:
    """The commit a run started from, and how the code differed from it."""

    commit: str | None
    dirty: bool
    diff: str

    def tags(self) -> dict[str, str]:
        """Return the tags MLflow's pages show as the run's version."""
        if self.commit is None:
            return {"git.dirty": "unknown"}
        return {"mlflow.source.git.commit": self.commit, "git.dirty": str(self.dirty).lower()}


def code_state(folder: Path) -> CodeState:
    """Return the state of the code in `folder`; without git, or outside a repository, nothing is known.

    Only code counts: outputs are DVC's, and parameters are logged as such.
    """
    commit = git(folder, "rev-parse", "HEAD")
    if commit is None:
        return CodeState(None, False, "")
    status = git(folder, "status", "--porcelain", "--untracked-files=all", "--", *CODE)
    diff = git(folder, "diff", "HEAD", "--", *CODE) or ""
    return CodeState(commit.strip(), bool(status), redact(diff)[:MAX_DIFF])


def unknown_code(folder: Path) -> list[str] | None:
    """Return the files of code that git does not know, which an experiment run in a copy lacks.

    None without git, or outside a repository.
    """
    listed = git(folder, "ls-files", "--others", "--exclude-standard", "--", *CODE)
    return None if listed is None else listed.splitlines()


def git(folder: Path, *arguments: str) -> str | None:
    """Return what git says in `folder`, None where there is no git or it refuses."""
    program = shutil.which("git")
    if program is None:
        return None
    done = subprocess.run([program, *arguments], cwd=folder, capture_output=True, text=True, check=False)  # noqa: S603 - fixed arguments
    return done.stdout if done.returncode == 0 else None


def folder_hash(folder: Path) -> str:
    """Return the SHA-256 over names and bytes of all files below `folder`: what a training has seen."""
    digest = hashlib.sha256()
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        digest.update(f"{path.relative_to(folder).as_posix()}\0".encode())
        with path.open("rb") as file:
            digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()
