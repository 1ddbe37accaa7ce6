"""All sections of the parameters together, and the rules that hold between them."""

from dataclasses import dataclass, fields
from pathlib import Path
from typing import get_type_hints

import numpy as np

from candlecast.data.config import DataConfig
from candlecast.evaluation.config import BaselinesConfig, EvaluateConfig
from candlecast.features.config import FeaturesConfig
from candlecast.models.config import ModelConfig
from candlecast.params import parse, read_params, require
from candlecast.training.config import AccumConfig, TrainConfig
from candlecast.windows.config import WindowsConfig


@dataclass(frozen=True, kw_only=True, slots=True)
class Settings:
    """Every number that changes a result."""

    seed: int
    data: DataConfig
    features: FeaturesConfig
    windows: WindowsConfig
    model: ModelConfig
    accum: AccumConfig
    train: TrainConfig
    baselines: BaselinesConfig
    evaluate: EvaluateConfig

    def __post_init__(self) -> None:
        """Refuse sections that are sound alone and contradict each other."""
        data, windows = self.data, self.windows
        require(
            data.start < windows.test_start <= data.end,
            f"windows.test_start: {windows.test_start} is not between data.start {data.start} "
            f"and data.end {data.end}",
        )
        weekdays = int(np.busday_count(windows.test_start, data.end)) + 1
        require(
            windows.horizon < weekdays,
            f"windows.horizon: {windows.horizon} bars is longer than the test span, {weekdays} weekdays from "
            f"windows.test_start to data.end; shorten the horizon or start the test earlier",
        )
        longest = max(self.baselines.summary_bars, default=1)
        require(
            longest <= windows.length,
            f"baselines.summary_bars: {longest} is longer than windows.length {windows.length}",
        )


def load_settings(path: Path = Path("params.yaml")) -> Settings:
    """Return every section of the file, checked alone and together, or raise `ParamsError`."""
    values = read_params(path)
    known = [field.name for field in fields(Settings)]
    hints = get_type_hints(Settings)
    for section in values:
        require(section in known, f"{section}: unknown section in {path}; it has {', '.join(known)}")
    for section in known:
        require(section in values, f"{section}: missing from {path}; add this section")
    return Settings(**{section: parse(values[section], hints[section], section) for section in known})
