"""From a trained network and windows back to a frame: one row a window, returns in log-return again.

Forecasts are made in float32 without autocast and in evaluation mode, so a window's forecast depends neither
on the windows beside it nor on how many are passed at once (to the rounding of a matrix product, about 1e-6).
"""

from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import torch
from numpy.typing import NDArray
from scipy.special import expit

from candlecast.errors import EvaluationError
from candlecast.evaluation.evaluate import MODEL
from candlecast.evaluation.frame import forecast_frame
from candlecast.windows.dataset import WindowDataset
from candlecast.windows.split import Part
from candlecast.windows.store import WindowStore

if TYPE_CHECKING:
    from torch import nn


def forecast(
    model: "nn.Module", store: WindowStore, part: Part, batch: int, device: torch.device | str = "cpu"
) -> pl.DataFrame:
    """Return the network's forecast of every window of one part, in `schema.FORECASTS`.

    Parameters
    ----------
    model
        Takes windows [B, T, F] and returns a `models.hybrid.Forecast`; left in the mode it came in.
    batch
        Windows in a forward pass; changes speed and memory alone.

    Raises
    ------
    EvaluationError
        A forecast is not finite.
    """
    rows = forecast_rows(model, store, store.split.part(part), batch, device)
    return forecast_frame(
        store, part, MODEL, rows["forecast_return"].to_numpy(), rows["probability_up"].to_numpy()
    )


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
            "probability_up": expit(logit),
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
