"""Take a snapshot of the bars that the parameters ask for."""

from pathlib import Path

from candlecast.data.config import DataConfig
from candlecast.data.snapshot import take_snapshot
from candlecast.params import load_params
from candlecast.stage import run_stage


def main() -> None:
    """Fetch, adjust and check the bars; write them with their manifest."""
    take_snapshot(load_params("data", DataConfig)).save(Path("data/raw"))


if __name__ == "__main__":
    run_stage(main)
