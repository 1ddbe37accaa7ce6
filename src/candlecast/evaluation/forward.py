"""A network's pass over windows: ticker, date, return and probability of each. Light enough to serve with.

Forecasts are made in float32 without autocast and in evaluation mode, so a window's forecast depends neither
on the windows beside it nor on how many are passed at once (to the rounding of a matrix product, about 1e-6).
"""

from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import scipy
import torch
from numpy.typing import NDArray

from candlecast.errors import EvaluationError
from candlecast.windows.dataset import WindowDataset
from candlecast.windows.store import WindowStore

if TYPE_CHECKING:
    from torch import nn


def forecast_rows(
    model: "nn.Module",
    store: WindowStore,
    ends: NDArray[np.int64],
    batch: int,
    device: torch.device | str = "cpu",
) -> pl.DataFrame:
    """Return ticker, date, forecast_return and probability_up of the windows that end at these panel rows.

    The outcome need not be known yet: this is also how the newest windows are forecast.
    """
    mean, logit = _run(model, WindowDataset(store, ends, device), batch)
    frame = pl.DataFrame(
        {
            "ticker": np.array(store.panel.tickers, dtype=object)[store.panel.ticker[ends]],
            "date": store.panel.date[ends],
            "forecast_return": store.standardizer.restore_target(mean),
            "probability_up": scipy.special.expit(logit),
        },
        schema_overrides={"ticker": pl.String()},
    )
    bad = frame.filter(~(pl.col("forecast_return").is_finite() & pl.col("probability_up").is_finite()))
    if bad.height:
        row = bad.row(0, named=True)
        raise EvaluationError(
            f"{row['ticker']} on {row['date']}: the network's forecast is not finite ({bad.height} of "
            f"{frame.height} windows); train again with a lower train.peak_lr"
        )
    return frame


def _run(
    model: "nn.Module", windows: WindowDataset, batch: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    was_training = model.training
    model.eval()
    try:
        with torch.inference_mode():
            order = torch.arange(len(windows))
            starts = range(0, len(windows), batch)
            forecasts = [model(windows.batch(order[start : start + batch]).inputs) for start in starts]
    finally:
        model.train(was_training)
    mean, logit = (
        torch.cat([getattr(each, name) for each in forecasts]).double().cpu().numpy()
        for name in ("mean", "direction_logit")
    )
    return mean, logit
