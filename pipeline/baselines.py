"""Forecast the same windows by means that cost little: what the network must beat."""

from pathlib import Path

from candlecast.evaluation.baselines import baseline_forecasts
from candlecast.evaluation.config import BaselinesConfig
from candlecast.files import replacing
from candlecast.params import load_params
from candlecast.stage import run_stage
from candlecast.windows.store import load_windows


def main() -> None:
    """Fit the baselines on the training part; write their forecasts of validation and test."""
    config, seed = load_params("baselines", BaselinesConfig), load_params("seed", int)
    forecasts = baseline_forecasts(load_windows(Path("data/windows")), config, seed)
    with replacing(Path("data/baselines/predictions.parquet")) as path:
        forecasts.write_parquet(path)


if __name__ == "__main__":
    run_stage(main)
