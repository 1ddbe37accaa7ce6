"""Take splits and dividends out of raw bars, so that a return is what a holder of the share earned."""

from typing import Final

import polars as pl

_RATIO: Final = pl.col("adjusted_close") / pl.col("close")


def adjust(raw: pl.DataFrame) -> pl.DataFrame:
    """Return date, open, high, low, close, volume of `RAW_BARS` on the scale of the adjusted close.

    Prices are multiplied by adjusted close / close and volume is divided by it, so that price x volume, the
    money that changed hands, stays what it was. Adjusting the close alone would leave it outside its own
    day's high and low.
    """
    return raw.select(
        "date",
        *(pl.col(name) * _RATIO for name in ("open", "high", "low")),
        pl.col("adjusted_close").alias("close"),
        pl.col("volume") / _RATIO,
    )
