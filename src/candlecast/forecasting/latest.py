"""Forecasts from the newest bars a source has, and what their reader should be told beside them."""

import datetime
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import polars as pl

from candlecast.data.calendar import exchange_sessions
from candlecast.data.config import DataConfig
from candlecast.data.snapshot import Snapshot, snapshot_of
from candlecast.data.source import Source
from candlecast.errors import UnknownTickerError
from candlecast.forecasting.card import Card
from candlecast.forecasting.forecaster import Forecaster

_HOLIDAYS: Final = 2  # weekdays in a row on which an exchange may be closed
_SHOWN: Final = 8  # tickers a warning lists before it says how many more there are


@dataclass(frozen=True, slots=True)
class Prediction:
    """Forecasts and what is known about them."""

    forecasts: pl.DataFrame  # ticker, date, forecast_return, probability_up
    warnings: tuple[str, ...]
    card: Card
    source: str


def predict(
    forecaster: Forecaster,
    source: Source,
    config: DataConfig,
    tickers: tuple[str, ...],
    today: datetime.date,
) -> Prediction:
    """Return the forecast at the last bar of each ticker.

    The bars come as the download stage takes them, with its checks and from `data.start` on, but up to
    `today`. Of an empty `tickers` all of `data.tickers` are forecast.

    Raises
    ------
    DataError
        The source lacks a ticker or does not answer, a check stops, or no ticker has enough bars.
    """
    snapshot = _newest(source, config, tickers, forecaster.bars_needed, today)
    forecasts = forecaster.latest(snapshot.bars)
    warnings = (
        *_left_out(snapshot, forecaster.bars_needed),
        *_stale(forecasts, config.calendar, today),
        *_strangers(forecasts, forecaster.card),
    )
    return Prediction(forecasts, warnings, forecaster.card, source.name)


def _newest(
    source: Source, config: DataConfig, tickers: tuple[str, ...], needed: int, today: datetime.date
) -> Snapshot:
    end = config.end if config.source == "synthetic" else today  # of which end says what the bars are
    asked = replace(config, tickers=tickers or config.tickers, end=end, min_bars=needed)
    snapshot = snapshot_of(source, asked)
    if not tickers:
        return snapshot
    missing = [
        name for name in tickers if name not in {*snapshot.bars["ticker"], *snapshot.manifest.left_out}
    ]
    if missing:
        raise UnknownTickerError(f"{source.name} has no {', '.join(missing)}")
    return replace(snapshot, bars=snapshot.bars.filter(pl.col("ticker").is_in(tickers)))


def _left_out(snapshot: Snapshot, needed: int) -> list[str]:
    findings = snapshot.manifest.quality.findings
    short = {each.ticker: each.count for each in findings if each.check == "too_short"}
    return [
        f"{ticker}: no forecast, {short[ticker]} bars without a gap where one needs {needed}"
        if ticker in short
        else f"{ticker}: no forecast, {reason}"
        for ticker, reason in snapshot.manifest.left_out.items()
    ]


def sessions_since(last: datetime.date, today: datetime.date, calendar: str | None) -> int:
    """Return how many sessions after `last` were over before `today`; weekdays where no calendar is named."""
    after = last + datetime.timedelta(days=1)
    if after >= today:
        return 0
    if calendar is None:
        return int(np.busday_count(after, today))
    return len(exchange_sessions(calendar, after, today - datetime.timedelta(days=1)))


def _stale(forecasts: pl.DataFrame, calendar: str | None, today: datetime.date) -> list[str]:
    allowed = _HOLIDAYS if calendar is None else 0
    unit, of = ("weekday", "") if calendar is None else ("session", f" of {calendar}")
    found = []
    for date, names in forecasts.group_by("date", maintain_order=True).agg("ticker").iter_rows():
        behind = sessions_since(date, today, calendar)
        if behind > allowed:
            plural = "" if behind == 1 else "s"
            found.append(
                f"{_listed(names)}: the last bar is of {date}, {behind:,} {unit}{plural}{of} before {today}; "
                f"the forecast is of the days after it, not of those to come"
            )
    return found


def _strangers(forecasts: pl.DataFrame, card: Card) -> list[str]:
    names = [name for name in forecasts["ticker"] if name not in card.tickers]
    if not names:
        return []
    return [f"{_listed(names)}: not among the tickers the model was trained on, {_listed([*card.tickers])}"]


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return f"{', '.join(names[:_SHOWN])}{more}"
