"""Fetch every ticker of the universe, hold it against the checks, and keep what passes."""

import datetime
import logging
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

import polars as pl

from candlecast.data.adjust import adjust
from candlecast.data.config import DataConfig
from candlecast.data.quality import Finding
from candlecast.data.source import Fetched, Revision, Source
from candlecast.data.validate import Judge, LeftOutError, validate
from candlecast.errors import NoBarsError, UnknownTickerError, UnreachableError

_log = logging.getLogger(__name__)
_GIVE_UP: Final = 3  # tickers in a row that cannot be reached, after which no other is tried


@dataclass(slots=True)
class Origin:
    """What is known of a history beside its bars."""

    currency: str | None
    provisional: tuple[datetime.date, ...]
    notes: tuple[str, ...]


@dataclass(slots=True)
class Gathered:
    """Adjusted bars of each ticker that passed, without segments yet, and what happened on the way."""

    histories: dict[str, pl.DataFrame] = field(default_factory=dict)
    origins: dict[str, Origin] = field(default_factory=dict)
    left_out: dict[str, str] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)
    revisions: list[Revision] = field(default_factory=list)

    def leave_out(self, ticker: str, reason: str) -> None:
        """Take a ticker out with a message."""
        self.histories.pop(ticker, None)
        self.left_out[ticker] = reason
        _log.warning("left out %s: %s", ticker, reason)


def gather(
    source: Source, tickers: tuple[str, ...], config: DataConfig, sessions: pl.Series | None
) -> Gathered:
    """Fetch, check and adjust each ticker; `sessions` are those of `data.calendar`, if there is one.

    Raises
    ------
    DataError
        A ticker is unknown and `data.allow_missing` is false, or a check's policy says so.
    UnreachableError
        A ticker could not be reached. All others have been tried before, unless the source is down.
    """
    gathered = Gathered()
    for ticker, fetched in _fetch_all(source, tickers, config, gathered):
        judge = Judge(ticker, config.checks)
        if fetched.revision:
            gathered.revisions.append(fetched.revision)
            _log.warning("%s", fetched.revision)
        try:
            bars = validate(judge, fetched, config.checks, sessions)
            if bars.height < config.min_bars:
                judge.rule("too_short", bars.height, bars["date"])
        except LeftOutError as reason:
            gathered.leave_out(ticker, reason_of(judge, str(reason), config))
        else:
            gathered.histories[ticker] = adjust(bars)
            gathered.origins[ticker] = Origin(fetched.currency, fetched.provisional, fetched.notes)
        gathered.findings += judge.findings
    return gathered


def _fetch_all(
    source: Source, tickers: tuple[str, ...], config: DataConfig, gathered: Gathered
) -> Iterator[tuple[str, Fetched]]:
    """Yield what each ticker's source gives; then raise for those that gave nothing."""
    unknown: list[str] = []
    elsewhere: dict[str, str] = {}  # tickers that have bars, but none between the dates
    unreachable: list[str] = []
    in_a_row = 0
    for number, ticker in enumerate(tickers):
        try:
            fetched = source.fetch(ticker, config.start, config.end)
        except UnknownTickerError as error:
            in_a_row = 0
            if config.allow_missing:
                gathered.leave_out(ticker, str(error))
            elif isinstance(error, NoBarsError):
                elsewhere[ticker] = str(error)
            else:
                unknown.append(str(error))
        except UnreachableError as error:
            unreachable.append(str(error))
            in_a_row += 1
            if in_a_row == _GIVE_UP and number + 1 < len(tickers):
                unreachable.append(f"{len(tickers) - number - 1} more not tried")
                break
        else:
            in_a_row = 0
            yield ticker, fetched
    _refuse(unreachable, unknown, elsewhere)


def _refuse(unreachable: list[str], unknown: list[str], elsewhere: dict[str, str]) -> None:
    """Raise for the tickers that gave nothing, the gravest reason first."""
    if unreachable:
        raise UnreachableError(
            f"data.tickers: {'; '.join(unreachable)}. What was fetched is kept: run again to go on from there"
        )
    if unknown:
        raise UnknownTickerError(
            f"data.tickers: {'; '.join(unknown)}. Correct the names, or set data.allow_missing: true"
        )
    if elsewhere:
        (_, first), *others = elsewhere.items()
        likewise = f" (likewise {', '.join(ticker for ticker, _ in others)})" if others else ""
        raise NoBarsError(f"{first}{likewise}")


def reason_of(judge: Judge, text: str, config: DataConfig) -> str:
    """Return, for a person, why a check left a history out."""
    last = judge.findings[-1]
    if last.check == "too_short":
        return f"{last.count} sessions, fewer than data.min_bars {config.min_bars}"
    return f"{text}; data.checks.{last.check} is drop_ticker"
