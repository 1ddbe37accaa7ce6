"""What is forecast: the log-return over the bars that follow."""

import polars as pl

from candlecast.params import require
from candlecast.schema import HISTORY


def forward_log_return(frame: pl.DataFrame, horizon: int) -> pl.Series:
    """Return log(close_{t+horizon} / close_t) for each row, in the frame's order, as Float64.

    `frame` holds ticker, segment and close, each history in the order of its dates. The last `horizon`
    rows of a history have no such bar and are null, never 0.
    """
    require(horizon >= 1, f"windows.horizon: {horizon} looks ahead by no bar; must be at least 1")
    later = pl.col("close").shift(-horizon).over(HISTORY)
    return frame.select((later / pl.col("close")).log().alias("target")).to_series()
