"""One long table of all histories, as arrays: what every window is a view into.

Polars ends here: `Panel.from_frame` takes a frame, everything after it sees numpy.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self

import numpy as np
import polars as pl
from numpy.typing import NDArray

from candlecast.errors import DataError
from candlecast.schema import FEATURE_KEYS, check
from candlecast.windows.arrays import REMEDY, load_array, read_json, refuse_outside, save_array, write_json

_ARRAYS: Final = ("features", "target", "date", "session", "ticker", "segment")
_DAYS: Final = np.dtype("datetime64[D]")


@dataclass(frozen=True, slots=True)
class Panel:
    """All bars of all tickers, sorted by ticker and date; row t of every array is the same bar.

    A history is a run of rows of one ticker and segment.
    """

    features: NDArray[np.float32]  # [rows, features], C-contiguous; NaN where not known
    target: NDArray[np.float64]  # [rows], log-return over the next `horizon` bars, NaN where not known
    date: NDArray[np.datetime64]  # [rows], days
    session: NDArray[np.int32]  # [rows], position of the date among the sorted dates of all tickers
    ticker: NDArray[np.int32]  # [rows], index into `tickers`
    segment: NDArray[np.int32]  # [rows], counts a ticker's histories
    tickers: tuple[str, ...]
    feature_names: tuple[str, ...]
    horizon: int  # bars

    def __post_init__(self) -> None:
        """Refuse arrays that do not fit each other, and a target from beyond the end of a history."""
        lengths = {name: len(getattr(self, name)) for name in _ARRAYS}
        if len(set(lengths.values())) != 1 or self.features.shape[1:] != (len(self.feature_names),):
            raise DataError(f"panel: arrays of different lengths {lengths}, features {self.features.shape}")
        if np.isnat(self.date).any():
            raise DataError("panel: a row has no date")
        if not np.array_equal(_positions(self.date), self.session):
            raise DataError("panel: session is not the position of each row's date among all dates")
        stray = np.flatnonzero(np.isfinite(self.target) & (self.label_row() < 0))
        if len(stray):
            row = stray[0]
            raise DataError(
                f"{self.tickers[self.ticker[row]]}, {self.date[row]}: a target although its history ends "
                f"within {self.horizon} bars; build the target for windows.horizon {self.horizon}"
            )

    @classmethod
    def from_frame(cls, features: pl.DataFrame, target: pl.Series, horizon: int) -> Self:
        """Return the panel of a features frame and the forward log-returns beside its rows.

        Parameters
        ----------
        features
            `schema.FEATURE_KEYS`, then one Float32 column an indicator; rows in any order.
        target
            One value a row of `features`, null where the next `horizon` bars are not known.

        Raises
        ------
        DataError
            A column is missing, a bar appears twice, or the target does not fit the rows.
        """
        if len(target) != len(features):
            raise DataError(f"target: {len(target)} values for {len(features)} rows of features")
        names = tuple(name for name in features.columns if name not in FEATURE_KEYS)
        if not names or features.is_empty():
            raise DataError(f"features: {len(features)} rows of {len(names)} indicators; nothing to window")
        keyed = check(features, FEATURE_KEYS, "features")
        frame = keyed.with_columns(target.cast(pl.Float64).alias("_target"))
        if not frame.select(pl.struct("ticker", "date").is_sorted()).item():
            frame = frame.sort("ticker", "date")
        _refuse_repeated(frame)
        values = frame.select(pl.col(names).cast(pl.Float32)).to_numpy(order="c", writable=True)
        values[~np.isfinite(values)] = np.nan
        date = frame["date"].to_numpy().astype(_DAYS)
        return cls(
            features=values,
            target=_finite_or_nan(frame["_target"]),
            date=date,
            session=_positions(date),
            ticker=frame["ticker"].rle_id().to_numpy().astype(np.int32),
            segment=frame["segment"].to_numpy().astype(np.int32),
            tickers=tuple(frame["ticker"].unique().sort()),
            feature_names=names,
            horizon=horizon,
        )

    def history_starts(self) -> NDArray[np.bool_]:
        """Return, for each row, whether a history begins there."""
        starts = np.ones(len(self.ticker), dtype=np.bool_)
        starts[1:] = (np.diff(self.ticker) != 0) | (np.diff(self.segment) != 0)
        return starts

    def label_row(self) -> NDArray[np.int64]:
        """Return the row of the bar `horizon` bars later in the same history, or -1 where it has ended."""
        rows = len(self.ticker)
        history = np.cumsum(self.history_starts())
        later = np.arange(rows, dtype=np.int64) + self.horizon
        inside = later < rows
        inside[inside] = history[later[inside]] == history[inside]
        return np.where(inside, later, -1)

    def known_bars(self) -> NDArray[np.int64]:
        """Return how many bars up to and including each row are one history with every feature known."""
        rows = np.arange(len(self.ticker), dtype=np.int64)
        known = np.isfinite(self.features).all(axis=1)
        before = np.where(self.history_starts(), rows - 1, -1)
        before[~known] = rows[~known]
        return rows - np.maximum.accumulate(before)

    def window_ends(self, length: int) -> NDArray[np.int64]:
        """Return the rows at which a window of `length` bars may end, in ascending order.

        All its bars are of one history and every feature is known; the target need not be, since the
        newest windows are the ones a live forecast is made from.
        """
        return np.flatnonzero(self.known_bars() >= length)

    def save(self, folder: Path) -> None:
        """Write arrays as .npy and names as JSON; the same panel gives the same bytes.

        What is the same for a whole session or history is written once for it.
        """
        save_array(folder / "features.npy", self.features)
        save_array(folder / "target.npy", self.target)
        save_array(folder / "session.npy", self.session)
        save_array(folder / "dates.npy", np.unique(self.date))
        starts = np.flatnonzero(self.history_starts())
        histories = np.stack([starts, self.ticker[starts], self.segment[starts]], axis=1)
        save_array(folder / "histories.npy", histories.astype(np.int32))
        names = {"tickers": self.tickers, "feature_names": self.feature_names, "horizon": self.horizon}
        write_json(folder / "panel.json", names)

    @classmethod
    def load(cls, folder: Path, mmap: bool = True) -> Self:
        """Return the panel saved in `folder`; `mmap` reads the features only as they are used."""
        int32 = np.dtype(np.int32)
        session = load_array(folder / "session.npy", int32)
        histories = load_array(folder / "histories.npy", int32)
        dates = load_array(folder / "dates.npy", _DAYS)
        names = read_json(folder / "panel.json", ("tickers", "feature_names", "horizon"))
        refuse_outside(folder / "session.npy", session, 0, len(dates))
        bars = _bars_of(histories, len(session), len(names["tickers"]), folder / "histories.npy")
        return cls(
            features=load_array(folder / "features.npy", np.dtype(np.float32), mmap),
            target=load_array(folder / "target.npy", np.dtype(np.float64)),
            date=dates[session],
            session=session,
            ticker=np.repeat(histories[:, 1], bars),
            segment=np.repeat(histories[:, 2], bars),
            tickers=tuple(names["tickers"]),
            feature_names=tuple(names["feature_names"]),
            horizon=names["horizon"],
        )


def _bars_of(histories: NDArray[np.int32], rows: int, tickers: int, path: Path) -> NDArray[np.int64]:
    """Return how many bars each history has, or raise `DataError` where its record cannot be true."""
    if histories.ndim != 2 or histories.shape[1:] != (3,):
        raise DataError(f"{path}: not of the form first row, ticker, segment; {REMEDY}")
    refuse_outside(path, histories[:, 0], 0, rows)
    refuse_outside(path, histories[:, 1], 0, tickers)
    bars: NDArray[np.int64] = np.diff(np.append(histories[:, 0], rows))
    if (bars < 1).any() or (len(histories) and histories[0, 0] != 0):
        raise DataError(f"{path}: its first rows do not ascend from 0; {REMEDY}")
    return bars


def _positions(date: NDArray[np.datetime64]) -> NDArray[np.int32]:
    """Return each row's position among the sorted dates, counted without sorting them."""
    if not len(date) or np.isnat(date).any():
        return np.zeros(len(date), dtype=np.int32)  # refused by whoever reads them
    days = (date - date.min()).astype(np.int64)
    seen = np.zeros(days.max() + 1, dtype=np.bool_)
    seen[days] = True
    positions: NDArray[np.int32] = (np.cumsum(seen) - 1).astype(np.int32)[days]
    return positions


def _refuse_repeated(frame: pl.DataFrame) -> None:
    """Raise for the first row of a sorted frame that has the keys of the row before."""
    same = (pl.col(name).eq_missing(pl.col(name).shift()) for name in ("ticker", "date"))
    repeated = frame.filter(pl.all_horizontal(same) & (pl.int_range(pl.len()) > 0))
    if not repeated.is_empty():
        raise DataError(f"features: {repeated['ticker'][0]} has two rows for {repeated['date'][0]}; keep one")


def _finite_or_nan(column: pl.Series) -> NDArray[np.float64]:
    values = np.array(column.to_numpy(), dtype=np.float64)
    values[~np.isfinite(values)] = np.nan
    return values
