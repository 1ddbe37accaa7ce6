"""Take a snapshot of the bars that the parameters ask for."""

import os
from pathlib import Path

from candlecast.data.config import DataConfig
from candlecast.data.snapshot import take_snapshot
from candlecast.params import load_params
from candlecast.stage import run_stage


def main() -> None:
    """Fetch, adjust and check the bars; write them with their manifest."""
    # An experiment may run in a temporary copy of the repository, where DVC_ROOT still names this one.
    cache = Path(os.environ.get("DVC_ROOT", ".")) / ".cache" / "bars"
    take_snapshot(load_params("data", DataConfig), cache).save(Path("data/raw"))


if __name__ == "__main__":
    run_stage(main)
