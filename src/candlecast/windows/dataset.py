"""Windows as views into the panel: batches are gathered from it, never stored.

500 tickers x 2,500 bars as [windows, 256, 32] would be 41 GB; the panel they are views into is 160 MB.
"""

from typing import Final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from candlecast.windows.batch import Batch
from candlecast.windows.split import Part
from candlecast.windows.store import WindowStore


class WindowDataset:
    """The windows of one part of a store in ascending order of panel row, or those at the given rows.

    The panel lives on `device`; batches are made there.
    """

    def __init__(
        self,
        store: WindowStore,
        part: Part | NDArray[np.int64],
        device: torch.device | str = "cpu",
    ) -> None:
        """Take a part's name, or the rows at which the windows end, such as the newest bars'."""
        ends = store.split.part(part) if isinstance(part, str) else part
        self.length: Final = store.length
        self.num_features: Final = len(store.panel.feature_names)
        self._panel: Final = store.panel
        target = store.panel.target[ends]
        panel = torch.from_numpy(store.panel.features).to(device)
        num_starts = max(len(panel) - self.length + 1, 0)
        # [rows - T + 1, T, F]: element s is the T rows from row s on, in place.
        self._windows = panel.as_strided(
            (num_starts, self.length, self.num_features), (self.num_features, self.num_features, 1)
        )
        self._ends = torch.from_numpy(ends).to(device)
        standardised = store.standardizer.standardise_target(target).astype(np.float32)
        self._target = torch.from_numpy(standardised).to(device)
        self._direction = torch.from_numpy((target > 0).astype(np.float32)).to(device)

    def __len__(self) -> int:
        return len(self._ends)

    def batch(self, indices: Tensor) -> Batch:
        """Return the windows at `indices` (int64, 0 .. len - 1) in that order."""
        indices = indices.to(self._ends.device)
        ends = self._ends.index_select(0, indices)
        return Batch(
            inputs=self._windows.index_select(0, ends - (self.length - 1)),
            target=self._target.index_select(0, indices),
            direction=self._direction.index_select(0, indices),
            weight=torch.ones(len(indices), device=ends.device),
            rows=ends,
        )

    def names(self, rows: Tensor) -> list[str]:
        """Return the ticker and date of each panel row, for messages: 'AAPL 2003-04-28'."""
        panel = self._panel
        return [f"{panel.tickers[panel.ticker[row]]} {panel.date[row]}" for row in rows.tolist()]
