"""Turn bars into the 32 indicators."""

from pathlib import Path

from candlecast.features.build import build_features
from candlecast.features.config import FeaturesConfig
from candlecast.files import replacing
from candlecast.params import load_params
from candlecast.schema import BARS, read_frame
from candlecast.stage import run_stage


def main() -> None:
    """Build every indicator of every history."""
    bars = read_frame(Path("data/raw/bars.parquet"), BARS)
    features = build_features(bars, load_params("features", FeaturesConfig))
    with replacing(Path("data/features/features.parquet")) as path:
        features.write_parquet(path)


if __name__ == "__main__":
    run_stage(main)
