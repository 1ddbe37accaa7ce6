"""The scale of features and target, measured on what training may see and on nothing else."""

from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Final, Self

import numpy as np
from numpy.typing import NDArray

from candlecast.windows.arrays import read_json, write_json
from candlecast.windows.panel import Panel
from candlecast.windows.split import Split

_BLOCK_ROWS: Final = 2048  # rows standardised at a time, so that float64 copies stay in the processor's cache


@dataclass(frozen=True, slots=True)
class Standardizer:
    """Means and population standard deviations (ddof 0) of the training span; 1 where it is constant."""

    mean: NDArray[np.float64]  # [features]
    std: NDArray[np.float64]  # [features]
    target_mean: float  # log-return over the horizon
    target_std: float
    clip: float  # standard deviations at which a feature is cut

    @classmethod
    def fit(cls, panel: Panel, split: Split, length: int, clip: float) -> Self:
        """Measure features on the rows that a training window covers, each once, the target on its ends."""
        covered = covered_rows(split.train, length, len(panel.target))
        columns = (panel.features[covered, index] for index in range(len(panel.feature_names)))
        scales = np.array([_scale(column) for column in columns])
        target_mean, target_std = _scale(panel.target[split.train])
        return cls(scales[:, 0].copy(), scales[:, 1].copy(), target_mean, target_std, clip)

    def apply(self, features: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the features [rows, features] in standard deviations, cut at ±clip; NaN where not finite."""
        scaled = np.empty(features.shape, dtype=np.float32)
        for start in range(0, len(features), _BLOCK_ROWS):
            block = features[start : start + _BLOCK_ROWS].astype(np.float64)
            block[~np.isfinite(block)] = np.nan
            block -= self.mean
            block /= self.std
            scaled[start : start + _BLOCK_ROWS] = np.clip(block, -self.clip, self.clip, out=block)
        return scaled

    def standardise_target(self, log_return: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return log-returns in training standard deviations about the training mean."""
        return (log_return - self.target_mean) / self.target_std

    def restore_target(self, standardised: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return standardised returns as log-returns; undoes `standardise_target`."""
        return standardised * self.target_std + self.target_mean

    def save(self, path: Path) -> None:
        """Write the scale as JSON; floats are written so that they read back as the same bits."""
        write_json(path, {**asdict(self), "mean": self.mean.tolist(), "std": self.std.tolist()})

    @classmethod
    def load(cls, path: Path) -> Self:
        """Return the scale saved at `path`."""
        values = read_json(path, tuple(field.name for field in fields(cls)))
        mean, std = (np.array(values.pop(name), dtype=np.float64) for name in ("mean", "std"))
        return cls(mean, std, **values)


def covered_rows(ends: NDArray[np.int64], length: int, num_rows: int) -> NDArray[np.bool_]:
    """Return, for each panel row, whether a window of `length` bars ending at one of `ends` holds it."""
    edges = np.zeros(num_rows + 1, dtype=np.int64)
    np.add.at(edges, ends - length + 1, 1)
    np.add.at(edges, ends + 1, -1)
    covered: NDArray[np.bool_] = np.cumsum(edges[:-1]) > 0
    return covered


def _scale(values: NDArray[np.floating]) -> tuple[float, float]:
    wide = values.astype(np.float64)
    # Compared exactly: the mean of equal numbers may differ from them in the last bit, and a scale of
    # 1e-17 would blow a rounding error up to whole standard deviations.
    constant = wide.min() == wide.max()
    return float(wide.mean()), 1.0 if constant else float(wide.std())
