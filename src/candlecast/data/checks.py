"""The faults one bar or its neighbours show: each function marks the faulty rows of one history.

They take `RAW_BARS` and the tolerances and return a Boolean column as long as the frame, without null.
From the third on they expect ascending dates, and each expects that the rows its predecessors could only
drop are gone: where a price is null, no order can be told.
"""

import math
from collections.abc import Callable
from typing import Final

import polars as pl

from candlecast.data.config import ChecksConfig
from candlecast.data.source import PRICES

Check = Callable[[pl.DataFrame, ChecksConfig], pl.Series]

# New shares for an old one. 100 is left to unit_jump, and nearer to 1 a split looks like any bad day.
_SPLITS: Final = (1.5, 2, 3, 4, 5, 6, 7, 8, 10, 15, 20, 25, 30, 40, 50)
_UNIT: Final = 100.0  # pence for pounds, cents for euros
_SETTLED: Final = 1.2  # a split's day may end this far from its ratio


def repeated_row(bars: pl.DataFrame, limits: ChecksConfig) -> pl.Series:
    """All but the first of rows that are equal in every column."""
    return ~bars.select(pl.struct(pl.all()).is_first_distinct()).to_series()


def conflicting_rows(bars: pl.DataFrame, limits: ChecksConfig) -> pl.Series:
    """Every row of a date that has more than one."""
    return bars["date"].is_duplicated()


def missing_price(bars: pl.DataFrame, limits: ChecksConfig) -> pl.Series:
    """A null, NaN or infinite price; Yahoo gives NaN with a volume for a session it has yet to fill.

    So is one that is finite and positive as given, and that adjusting makes infinite or zero.
    """
    given = pl.all_horizontal(pl.col(name).is_finite().fill_null(value=False) for name in PRICES)
    positive = pl.min_horizontal(PRICES) > 0  # where one is not, non_positive_price says so
    ratio = pl.col("adjusted_close") / pl.col("close")
    lost = pl.any_horizontal(
        ~(pl.col(name) * ratio).is_finite() | (pl.col(name) * ratio == 0) for name in ("open", "high", "low")
    )
    return bars.select(~given | (positive & lost).fill_null(value=False)).to_series()


def non_positive_price(bars: pl.DataFrame, limits: ChecksConfig) -> pl.Series:
    """A price of zero or below, as crude oil's on 2020-04-20: real, but without a log-return."""
    return bars.select(pl.min_horizontal(PRICES) <= 0).to_series()


def missing_volume(bars: pl.DataFrame, limits: ChecksConfig) -> pl.Series:
    """A null, NaN, infinite or negative volume, as given or when adjusted."""
    volume = bars["volume"]
    adjusted = volume / (bars["adjusted_close"] / bars["close"])
    return ~(volume.is_finite() & (volume >= 0) & adjusted.is_finite()).fill_null(value=False)


def price_order(bars: pl.DataFrame, limits: ChecksConfig) -> pl.Series:
    """A high below, or a low above, another price of the bar, by more than rounding explains."""
    beyond = 1 + limits.order_tolerance
    prices = ("open", "high", "low", "close")
    low_high = pl.col("high") * beyond < pl.max_horizontal(prices)
    high_low = pl.col("low") > pl.min_horizontal(prices) * beyond
    return bars.select(low_high | high_low).to_series()


def unit_jump(bars: pl.DataFrame, limits: ChecksConfig) -> pl.Series:
    """Bars that are 100 times above or below the level most bars have, in whole steps of 100."""
    ratio = bars.select((pl.col("close") / pl.col("close").shift()).log()).to_series()
    near = math.log1p(limits.unit_tolerance)
    up, down = (ratio - math.log(_UNIT)).abs() <= near, (ratio + math.log(_UNIT)).abs() <= near
    level = (up.cast(pl.Int32) - down.cast(pl.Int32)).fill_null(0).cum_sum()
    if level.n_unique() <= 1:
        return pl.Series([False]).new_from_index(0, len(level))
    usual = level.mode().max()  # of two equally long stretches, one is wrong, and it cannot be told which
    return level != usual


def unadjusted_split(bars: pl.DataFrame, limits: ChecksConfig) -> pl.Series:
    """A bar whose open stands to the last close as after a split, and whose close stays near.

    On the adjusted scale, where a split must not show. A crash that happens to open at 1/2 looks the same.
    """
    adjusted_open = pl.col("open") * pl.col("adjusted_close") / pl.col("close")
    last = pl.col("adjusted_close").shift()
    opening, closing = (adjusted_open / last).log(), (pl.col("adjusted_close") / last).log()
    near, settled = math.log1p(limits.split_tolerance), math.log(_SETTLED)
    steps = [sign * math.log(split) for split in _SPLITS for sign in (1, -1)]
    return bars.select(
        pl.any_horizontal(
            ((opening - step).abs() <= near) & ((closing - step).abs() <= settled) for step in steps
        ).fill_null(value=False)
    ).to_series()


def zero_volume(bars: pl.DataFrame, limits: ChecksConfig) -> pl.Series:
    """A run of `run_length` bars or more in which nothing was traded."""
    idle = bars["volume"] == 0
    return idle & (_run_lengths(idle) >= limits.run_length)


def flat_prices(bars: pl.DataFrame, limits: ChecksConfig) -> pl.Series:
    """The second and later bars of a run of `run_length` or more with the same four prices."""
    prices = ("open", "high", "low", "close")
    same = bars.select(
        pl.all_horizontal(pl.col(name) == pl.col(name).shift() for name in prices).fill_null(value=False)
    ).to_series()
    return same & (_run_lengths(same) + 1 >= limits.run_length)


def _run_lengths(marks: pl.Series) -> pl.Series:
    """Return, for each row, how many rows its run of equal marks has."""
    runs = pl.DataFrame({"run": marks.rle_id()})
    return runs.select(pl.len().over("run")).to_series()


ROW_CHECKS: Final[dict[str, Check]] = {
    "repeated_row": repeated_row,
    "conflicting_rows": conflicting_rows,
    "missing_price": missing_price,
    "non_positive_price": non_positive_price,
    "missing_volume": missing_volume,
    "price_order": price_order,
    "unit_jump": unit_jump,
    "unadjusted_split": unadjusted_split,
    "zero_volume": zero_volume,
    "flat_prices": flat_prices,
}
