"""A folder that forecasts: weights, scale and card in, a table of forecasts out. No file in it is a pickle.

It makes windows through the same functions as the pipeline, so on the same bars it gives what the evaluation
gave.
"""

import shutil
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, Self

import numpy as np
import polars as pl
from numpy.typing import NDArray

from candlecast.errors import DataError
from candlecast.evaluation.forward import forecast_rows
from candlecast.features.build import build_features
from candlecast.files import replacing_folder
from candlecast.forecasting.card import Card
from candlecast.models.hybrid import Hybrid
from candlecast.training.artifact import DESCRIPTION, WEIGHTS, load_model, read_description
from candlecast.windows.panel import Panel
from candlecast.windows.scaling import Standardizer
from candlecast.windows.split import Split
from candlecast.windows.store import WindowStore

SCALE: Final = "standardizer.json"
BATCH: Final = 128  # windows in a forward pass; no forecast depends on it
_NAMED: Final = 5  # tickers an error names before it says how many more there are


def save_forecaster(folder: Path, model: Path, standardizer: Standardizer, card: Card) -> None:
    """Write the folder, whole or not at all: the weights of the `model` folder, the scale and the card."""
    with replacing_folder(folder) as temporary:
        for name in (WEIGHTS, DESCRIPTION):
            shutil.copyfile(model / name, temporary / name)
        standardizer.save(temporary / SCALE)
        card.save(temporary)


@dataclass(frozen=True, slots=True)
class Forecaster:
    """A trained model with all it takes to be asked."""

    model: Hybrid
    standardizer: Standardizer
    card: Card
    feature_names: tuple[str, ...]
    length: int  # bars in a window

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Return what `save_forecaster` wrote, or raise `DataError` naming the file at fault."""
        card = Card.load(folder)
        description = read_description(folder)
        standardizer = Standardizer.load(folder / SCALE)
        if len(standardizer.mean) != len(description.feature_names):
            raise DataError(
                f"{folder}: a scale of {len(standardizer.mean)} features for a model of "
                f"{len(description.feature_names)}; make it again with: dvc repro"
            )
        return cls(load_model(folder), standardizer, card, description.feature_names, description.length)

    @property
    def bars_needed(self) -> int:
        """Bars a history must have before its first forecast."""
        return self.length + self.card.settling_bars

    def latest(self, bars: pl.DataFrame) -> pl.DataFrame:
        """Return the forecast at each ticker's last bar: ticker, date, forecast_return, probability_up.

        Parameters
        ----------
        bars
            `schema.BARS`, adjusted. Returns are log-returns over `card.horizon` bars.

        Raises
        ------
        DataError
            A ticker has too few bars, or an indicator of its last window is not known.
        """
        store = self._windows(bars)
        panel = store.panel
        ends = np.append(np.flatnonzero(np.diff(panel.ticker)), len(panel.ticker) - 1)
        known = panel.known_bars()
        short = [int(end) for end in ends if known[end] < self.length]
        if short:
            raise DataError(self._why_short(panel, short))
        return self._forecast(store, ends)

    def every(self, bars: pl.DataFrame) -> pl.DataFrame:
        """Return the forecast at every bar that has a whole window behind it, as `latest` does at the last.

        Raises
        ------
        DataError
            No bar has one.
        """
        store = self._windows(bars)
        ends = store.panel.window_ends(self.length)
        if not len(ends):
            raise DataError(self._why_short(store.panel, [len(store.panel.ticker) - 1]))
        return self._forecast(store, ends)

    def _windows(self, bars: pl.DataFrame) -> WindowStore:
        features = build_features(bars, self.card.features)
        unknown = pl.repeat(None, features.height, dtype=pl.Float64, eager=True)
        panel = Panel.from_frame(features, unknown, self.card.horizon)
        if panel.feature_names != self.feature_names:
            raise DataError(
                f"the model reads {', '.join(self.feature_names)} and this version of the program makes "
                f"{', '.join(panel.feature_names)}; train again, or use the version it was trained with"
            )
        none = np.empty(0, dtype=np.int64)
        split = Split(none, none, none, boundaries={}, fold=0, folds=1)
        standardised = replace(panel, features=self.standardizer.apply(panel.features))
        return WindowStore(standardised, split, self.standardizer, self.length)

    def _forecast(self, store: WindowStore, ends: NDArray[np.int64]) -> pl.DataFrame:
        return forecast_rows(self.model, store, ends, BATCH)

    def _why_short(self, panel: Panel, rows: list[int]) -> str:
        starts = np.flatnonzero(panel.history_starts())
        row = rows[0]
        bars = row - int(starts[np.searchsorted(starts, row, side="right") - 1]) + 1
        name, date = panel.tickers[panel.ticker[row]], panel.date[row]
        others = [panel.tickers[panel.ticker[each]] for each in rows[1:]]
        more = f" and {len(others) - _NAMED} more" if len(others) > _NAMED else ""
        likewise = f" (likewise {', '.join(others[:_NAMED])}{more})" if others else ""
        if bars < self.bars_needed:
            return (
                f"{name}: {bars} bars without a gap up to {date}, and a forecast needs {self.bars_needed}: a "
                f"window of {self.length} after {self.card.settling_bars} in which the indicators "
                f"settle{likewise}"
            )
        return (
            f"{name}: an indicator is not known within the {self.length} bars up to {date}, as where "
            f"nothing was traded or no price moved for weeks{likewise}"
        )
