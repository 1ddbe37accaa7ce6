"""What each cell was when it was queued, kept on disk: the runner may be killed before it can tag a run."""

import json
from collections.abc import Mapping
from pathlib import Path

from candlecast.files import write_text


class Ledger:
    """Fingerprints by cell, in `.cache/studies/<study>.json` below the repository's root."""

    def __init__(self, root: Path, study: str) -> None:
        self._path = root / ".cache" / "studies" / f"{study}.json"
        try:
            self._queued: dict[str, str] = json.loads(self._path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            self._queued = {}

    def get(self, name: str) -> str | None:
        """Return the fingerprint that a cell was last queued with."""
        return self._queued.get(name)

    def add(self, fingerprints: Mapping[str, str]) -> None:
        """Note cells that are about to be queued."""
        self._queued |= fingerprints
        write_text(self._path, json.dumps(self._queued, indent=1))
