"""From a trained network and windows back to a frame: one row a window, returns in log-return again."""

from typing import TYPE_CHECKING

import polars as pl
import torch

from candlecast.evaluation.evaluate import MODEL
from candlecast.evaluation.forward import forecast_rows
from candlecast.evaluation.frame import forecast_frame
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
