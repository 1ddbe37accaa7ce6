"""How one history differs from an earlier one of the same ticker: what a vendor has rewritten."""

from typing import Final

import polars as pl

from candlecast.data.source import PRICES, Revision

TOLERANCE: Final = 1e-5  # relative: the same question to Yahoo gives other digits from the seventh on
_RATIOS: Final = (1.5, 2, 3, 4, 5, 6, 7, 8, 10, 15, 20, 25, 30, 40, 50, 100)
_ALIKE: Final = 0.01  # relative, within which ratios of old to new prices are one split


def compare(ticker: str, old: pl.DataFrame, new: pl.DataFrame) -> Revision | None:
    """Return how `new` differs from `old` between the first and last date of `old`, or None.

    Both have a date and prices; of double dates the first counts. Volume is not compared: vendors go on
    counting for days.
    """
    prices = [name for name in PRICES if name in old.columns and name in new.columns]
    old, new = (frame.unique("date", keep="first", maintain_order=True) for frame in (old, new))
    new = new.filter(pl.col("date").is_between(old["date"].min(), old["date"].max()))
    both = old.join(new, on="date", suffix="_new", maintain_order="left")
    removed, added = old.join(new, on="date", how="anti"), new.join(old, on="date", how="anti")
    change = pl.max_horizontal(_change(name) for name in prices)
    changed = both.with_columns(change.alias("change")).filter(pl.col("change") > TOLERANCE)
    dates = pl.concat([frame["date"] for frame in (removed, added, changed)])
    if dates.is_empty():
        return None
    return Revision(
        ticker=ticker,
        rows_added=added.height,
        rows_removed=removed.height,
        rows_changed=changed.height,
        first=str(dates.min()),
        last=str(dates.max()),
        largest_change=float(changed["change"].max() or 0.0),  # type: ignore[arg-type]
        suspected_split=_split(changed),
    )


def compare_bars(old: pl.DataFrame, new: pl.DataFrame) -> tuple[Revision, ...]:
    """Return the revisions between two snapshots' bars (`schema.BARS`), of the tickers both hold.

    Adjusted bars: a dividend since rescales all that went before it.
    """
    both = sorted(set(old["ticker"].unique()) & set(new["ticker"].unique()))
    found = (
        compare(name, *(frame.filter(pl.col("ticker") == name) for frame in (old, new))) for name in both
    )
    return tuple(revision for revision in found if revision)


def _change(name: str) -> pl.Expr:
    """The relative change of a price; 1 where it came or went, 0 where it is missing in both."""
    before, after = (
        pl.when(pl.col(column).is_finite()).then(pl.col(column)) for column in (name, f"{name}_new")
    )
    change = ((after - before) / before).abs()
    return pl.when(before.is_null() & after.is_null()).then(0.0).otherwise(change.fill_null(1.0))


def _split(changed: pl.DataFrame) -> float | None:
    """Return the split that turns the old closes into the new, if one ratio does."""
    ratio = (changed["close"] / changed["close_new"]).drop_nulls().drop_nans()
    if ratio.is_empty():
        return None
    low, middle, high = (float(ratio.quantile(part) or 0.0) for part in (0.05, 0.5, 0.95))
    if not middle > 0 or high - low > _ALIKE * middle:
        return None
    for split in _RATIOS:
        for candidate in (float(split), 1 / split):
            if abs(middle / candidate - 1) <= _ALIKE:
                return candidate
    return None
