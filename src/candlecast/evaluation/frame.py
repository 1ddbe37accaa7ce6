"""From arrays beside panel rows back to a frame of forecasts."""

import numpy as np
import polars as pl
from numpy.typing import NDArray

from candlecast.schema import FORECASTS
from candlecast.windows.split import Part
from candlecast.windows.store import WindowStore


def forecast_frame(
    store: WindowStore,
    part: Part,
    model: str,
    forecast_return: NDArray[np.floating],
    probability_up: NDArray[np.floating],
) -> pl.DataFrame:
    """Return the forecasts of one model for all windows of one part, in the order of the part's rows.

    Parameters
    ----------
    forecast_return
        Log-return over the horizon, one a window.
    probability_up
        Probability that the realised one is above 0.
    """
    panel, ends = store.panel, store.split.part(part)
    names = np.array(panel.tickers)
    return pl.DataFrame(
        {
            "model": pl.repeat(model, len(ends), eager=True),
            "part": pl.repeat(part, len(ends), eager=True),
            "ticker": names[panel.ticker[ends]],
            "date": panel.date[ends],
            "realised_return": panel.target[ends],
            "forecast_return": forecast_return.astype(np.float64),
            "probability_up": probability_up.astype(np.float64),
        },
        schema=FORECASTS,
    )
