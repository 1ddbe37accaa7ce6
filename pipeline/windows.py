"""Lay the indicators out as one panel, split it by date, and fit the scale on its training part."""

from pathlib import Path

from candlecast.features.target import forward_log_return
from candlecast.params import load_params
from candlecast.schema import FEATURE_KEYS, read_frame
from candlecast.stage import run_stage
from candlecast.windows.config import WindowsConfig
from candlecast.windows.panel import Panel
from candlecast.windows.store import WindowStore


def main() -> None:
    """Write the panel, its split and its scale; windows themselves are never stored."""
    config = load_params("windows", WindowsConfig)
    features = read_frame(Path("data/features/features.parquet"), FEATURE_KEYS)
    panel = Panel.from_frame(features, forward_log_return(features, config.horizon), config.horizon)
    WindowStore.build(panel, config).save(Path("data/windows"))


if __name__ == "__main__":
    run_stage(main)
