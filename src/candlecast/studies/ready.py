"""What would make every cell fail, found before the first is queued."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import psutil
from dvc.repo import Repo

from candlecast.errors import StudyError
from candlecast.params import read_params
from candlecast.tracking.identity import unknown_code


def check_ready(root: Path) -> None:
    """Raise `StudyError` where a queued experiment would not run as the working tree does.

    It runs in a clone that holds what git knows; and DVC runs a part of the pipeline only when it finds the
    plots of the other part in its cache.
    """
    unknown = unknown_code(root)
    if unknown is None or not (root / ".git").exists():
        raise StudyError(
            f"{root}: not a git repository, which DVC's experiments need; run: git init, and commit"
        )
    if unknown:
        raise StudyError(
            f"{unknown[0]}: not known to git, so a queued cell would lack it; run: git add {unknown[0]}"
        )
    if busy := _at_work(root):
        raise StudyError(
            f"{busy} is at work in {root}, from where a queued cell takes its files; wait for its end"
        )
    if missing := _missing_plots(root):
        raise StudyError(
            f"{missing}: dvc.lock names it and DVC's cache lacks it, without which DVC runs no part of the "
            "pipeline; run the whole of it once with: dvc repro"
        )


def _at_work(root: Path) -> str | None:
    # DVC notes who writes an output, and lets go of its own lock while a stage's command runs.
    try:
        held = json.loads((root / ".dvc" / "tmp" / "rwlock").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    writers = [locks["write"] for locks in held.values() if locks.get("write")]
    alive = [writer for writer in writers if psutil.pid_exists(writer["pid"])]
    return f"{alive[0]['cmd']} (process {alive[0]['pid']})" if alive else None


def _missing_plots(root: Path) -> str | None:
    if not (root / "dvc.lock").exists():
        return None
    plots = _plots(read_params(root / "dvc.yaml"))
    stages: dict[str, Any] = read_params(root / "dvc.lock").get("stages", {})
    with Repo(str(root)) as repo:
        for stage in stages.values():
            for out in stage.get("outs", []):
                folder = str(out.get("md5", "")).endswith(".dir")
                drawn = any(f"{path}/".startswith(f"{out['path']}/") for path in plots)
                if folder and drawn and not repo.cache.local.exists(out["md5"]):
                    return str(out["path"])
    return None


def _plots(pipeline: Mapping[str, Any]) -> set[str]:
    paths: set[str] = set()
    for entry in pipeline.get("plots", []):
        for name, settings in entry.items() if isinstance(entry, Mapping) else [(entry, None)]:
            y = (settings or {}).get("y")
            paths |= {str(path) for path in y} if isinstance(y, Mapping) else {str(name)}
    return paths
