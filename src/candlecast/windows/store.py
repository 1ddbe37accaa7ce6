"""What the windows stage leaves on disk: a standardised panel, its split and its scale."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self

from candlecast.errors import DataError
from candlecast.files import replacing_folder
from candlecast.windows.arrays import read_json, refuse_outside, write_json
from candlecast.windows.config import WindowsConfig
from candlecast.windows.panel import Panel
from candlecast.windows.scaling import Standardizer
from candlecast.windows.split import PARTS, Split, split_windows


@dataclass(frozen=True, slots=True)
class WindowStore:
    """A panel of standardised features, the window ends of each part, and the scale to undo."""

    panel: Panel  # features standardised, target a plain log-return
    split: Split
    standardizer: Standardizer
    length: int  # bars in a window

    @classmethod
    def build(cls, panel: Panel, config: WindowsConfig) -> Self:
        """Split a panel of raw features, fit the scale on the training part and apply it to all rows.

        Raises
        ------
        SplitError
            A part has no window.
        """
        split = split_windows(panel, config)
        standardizer = Standardizer.fit(panel, split, config.length, config.clip)
        standardised = replace(panel, features=standardizer.apply(panel.features))
        return cls(standardised, split, standardizer, config.length)

    def save(self, folder: Path) -> None:
        """Write the folder, whole or not at all; the same store gives the same bytes."""
        with replacing_folder(folder) as temporary:
            self.panel.save(temporary)
            self.split.save(temporary)
            self.standardizer.save(temporary / "standardizer.json")
            write_json(temporary / "windows.json", {"length": self.length})


def load_windows(folder: Path, mmap: bool = True) -> WindowStore:
    """Return the store saved in `folder`; with `mmap` the panel is read only as it is used.

    Raises
    ------
    DataError
        A file is missing, cut short, or does not belong with the others.
    """
    panel = Panel.load(folder, mmap)
    standardizer = Standardizer.load(folder / "standardizer.json")
    if len(standardizer.mean) != len(panel.feature_names):
        raise DataError(
            f"{folder}: a scale of {len(standardizer.mean)} features for a panel of "
            f"{len(panel.feature_names)}; make it again with: dvc repro windows"
        )
    length = read_json(folder / "windows.json", ("length",))["length"]
    split = Split.load(folder)
    for part in PARTS:
        # A window that began before the first row, or ended after the last, would read other memory.
        refuse_outside(folder / f"{part}.npy", split.part(part), length - 1, len(panel.target))
    return WindowStore(panel, split, standardizer, length)
