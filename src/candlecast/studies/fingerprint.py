"""What a cell's result depends on, as one hash: a cell is run again when this changes, and only then.

DVC hangs experiments on the commit they started from, so by its own account a commit of a README makes every
cell a new one.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from candlecast.params import read_params
from candlecast.studies.cells import Cell, apply


class Fingerprints:
    """Fingerprints of cells in the repository at `root`, as its files are now."""

    def __init__(self, root: Path, params: Mapping[str, Any], threads: int) -> None:
        self._root, self._params, self._threads = root, params, threads
        self._stages: dict[str, Any] = read_params(root / "dvc.yaml")["stages"]
        self._files: dict[str, str] = {}

    def of(self, cell: Cell) -> str:
        """Return the SHA-256 of all that the cell's stages and those before them read."""
        resolved = apply(self._params, cell.overrides)
        stages = self._before(cell.targets or self._stages)
        sections = {key for stage in stages for key in self._stages[stage].get("params", [])}
        content = {
            "commands": {stage: self._stages[stage]["cmd"] for stage in stages},
            "files": {path: self._hash(path) for path in self._sources(stages)},
            "params": {key: resolved.get(key) for key in sorted(sections)},
            "own data": self._own_data(resolved),
            "threads": self._threads,
        }
        return hashlib.sha256(json.dumps(content, sort_keys=True, default=str).encode()).hexdigest()

    def _before(self, targets: Iterable[str]) -> list[str]:
        makers = {out: stage for stage in self._stages for out in self._outs(stage)}
        found, waiting = set(targets), list(targets)
        while waiting:
            for path in self._stages[waiting.pop()].get("deps", []):
                stage = next((makers[out] for out in makers if f"{path}/".startswith(f"{out}/")), None)
                if stage is not None and stage not in found:
                    found.add(stage)
                    waiting.append(stage)
        return sorted(found)

    def _outs(self, stage: str) -> list[str]:
        listed = [out for kind in ("outs", "metrics", "plots") for out in self._stages[stage].get(kind, [])]
        return [out if isinstance(out, str) else next(iter(out)) for out in listed]

    def _sources(self, stages: Iterable[str]) -> list[str]:
        made = {out for stage in self._stages for out in self._outs(stage)}
        paths = {path for stage in stages for path in self._stages[stage].get("deps", [])}
        return sorted(path for path in paths if not any(f"{path}/".startswith(f"{out}/") for out in made))

    def _hash(self, path: str) -> str:
        if path not in self._files:
            self._files[path] = _digest(self._root / path)
        return self._files[path]

    def _own_data(self, params: Mapping[str, Any]) -> str | None:
        data = params.get("data") or {}
        if data.get("source") != "files" or not data.get("path"):
            return None
        return self._hash(str(data["path"]))  # an absolute path stays one


def _digest(path: Path) -> str:
    digest = hashlib.sha256()
    files = sorted(path.rglob("*")) if path.is_dir() else [path]
    for file in files:
        if file.is_file() and "__pycache__" not in file.parts:
            digest.update(f"{file.relative_to(path).as_posix()}\0".encode())
            digest.update(hashlib.sha256(file.read_bytes()).digest())
    return digest.hexdigest()
