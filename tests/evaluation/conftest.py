"""Small forecast frames with known contents."""

import datetime
from collections.abc import Callable

import numpy as np
import polars as pl
import pytest

from candlecast.schema import FORECASTS

MakeForecasts = Callable[..., pl.DataFrame]


@pytest.fixture
def make_forecasts() -> MakeForecasts:
    """Return a maker of random forecasts: `skill` mixes the realised return into the forecast."""

    def make(
        days: int = 60,
        tickers: int = 5,
        skill: float = 0.0,
        model: str = "candlecast",
        part: str = "test",
        seed: int = 0,
    ) -> pl.DataFrame:
        generator = np.random.default_rng(seed)
        outcomes = np.random.default_rng(1000 + days + tickers)
        dates = [datetime.date(2011, 3, 1) + datetime.timedelta(day) for day in range(days)]
        realised = outcomes.normal(0.001, 0.03, (days, tickers))
        forecast = skill * realised + 0.01 * generator.normal(size=(days, tickers))
        rows = [(date, f"T{index}") for date in dates for index in range(tickers)]
        return pl.DataFrame(
            {
                "model": [model] * len(rows),
                "part": [part] * len(rows),
                "ticker": [ticker for _, ticker in rows],
                "date": [date for date, _ in rows],
                "realised_return": realised.ravel(),
                "forecast_return": forecast.ravel(),
                "probability_up": 1 / (1 + np.exp(-forecast.ravel() * 20)),
            },
            schema=FORECASTS,
        )

    return make


@pytest.fixture
def make_closes() -> Callable[..., pl.DataFrame]:
    """Return a maker of random closes for the days of forecasts and some more."""

    def make(frame: pl.DataFrame, extra: int, seed: int = 0) -> pl.DataFrame:
        generator = np.random.default_rng(seed)
        dates = sorted(set(frame["date"]))
        dates += [dates[-1] + datetime.timedelta(day) for day in range(1, extra + 1)]
        return pl.concat(
            pl.DataFrame({"ticker": [ticker] * len(dates), "date": dates}).with_columns(
                close=pl.Series(100 * np.exp(np.cumsum(generator.normal(0, 0.02, len(dates)))))
            )
            for ticker in sorted(set(frame["ticker"]))
        )

    return make
