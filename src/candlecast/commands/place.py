"""Where the command was given."""

from pathlib import Path

from candlecast.errors import CandlecastError


def repository_root(start: Path) -> Path:
    """Return the nearest folder at or above `start` that holds a dvc.yaml."""
    for folder in (start, *start.parents):
        if (folder / "dvc.yaml").exists():
            return folder
    raise CandlecastError(f"{start}: not inside a Candlecast repository; change to the folder with dvc.yaml")
