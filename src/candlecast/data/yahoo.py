"""Daily bars from Yahoo Finance, through yfinance."""

import datetime
import logging
import tempfile
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

import numpy as np

from candlecast.data.config import YahooConfig
from candlecast.data.incremental import IncrementalSource
from candlecast.data.pace import Pace
from candlecast.data.source import Fetched, Source
from candlecast.data.store import BarStore
from candlecast.data.yahoo_chart import NoChartError, read_chart
from candlecast.data.yahoo_session import Answer, WatchedSession, plain
from candlecast.errors import UnknownTickerError, UnreachableError

_log = logging.getLogger(__name__)
_FIRST_WAIT: Final = 2.0  # seconds before the second attempt; doubled before each further one
_LONGEST_WAIT: Final = 300.0  # seconds; a server that asks for more is taken as out of reach
# Yahoo's words for "there is no such thing"; any other error of its own is trouble on its side.
_ABSENT: Final = {"not found", "bad request", "unprocessable entity"}


@dataclass(frozen=True, slots=True)
class _Trouble:
    """Why an attempt told nothing about the ticker, and the pause the server asks for, in seconds."""

    reason: str
    pause: float | None = None


class YahooSource:
    """One `Ticker.history` a ticker; never `download`, which turns every failure into an empty frame.

    Three outcomes are kept apart: bars, no such ticker (or no bars of it between the dates), and no usable
    answer, which is tried again with longer and longer pauses.
    """

    name = "yahoo"

    def __init__(
        self,
        config: YahooConfig,
        session: WatchedSession,
        now: Callable[[], datetime.datetime] = lambda: datetime.datetime.now(datetime.UTC),
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._config = config
        self._session = session
        self._now = now
        self._sleep = sleep
        self._jitter = np.random.default_rng()  # of the pauses, so that two processes do not knock together

    def tickers(self) -> None:
        """Only Yahoo could tell."""
        return

    def packages(self) -> tuple[str, ...]:
        """The client library."""
        return ("yfinance",)

    def fetch(self, ticker: str, start: datetime.date, end: datetime.date) -> Fetched:
        """One ticker's finished bars, both dates inclusive; raises as `Source.fetch` does."""
        attempt = 0
        while True:
            attempt += 1
            outcome = self._ask(ticker, start, end)
            if isinstance(outcome, Fetched):
                return outcome
            wait = _FIRST_WAIT * 2 ** (attempt - 1) * self._jitter.uniform(0.5, 1.0)
            pause = max(outcome.pause or 0.0, wait)
            if attempt >= self._config.attempts or pause > _LONGEST_WAIT:
                times = "once" if attempt == 1 else f"{attempt} times"
                raise UnreachableError(f"{ticker} could not be reached ({outcome.reason}; tried {times})")
            _log.info("%s: %s; attempt %d follows in %.0f s", ticker, outcome.reason, attempt + 1, pause)
            self._sleep(pause)

    def _ask(self, ticker: str, start: datetime.date, end: datetime.date) -> Fetched | _Trouble:
        yfinance = _prepared()
        yfinance.data.YfData.cache_get.cache_clear()  # it would give a failed answer again, unasked
        self._session.answers.clear()
        error: Exception | None = None
        try:
            with warnings.catch_warnings():
                # What yfinance says of its own use of pandas is nothing a user can act on.
                warnings.simplefilter("ignore", DeprecationWarning)
                yfinance.Ticker(ticker, session=self._session).history(
                    start=start,
                    end=end + datetime.timedelta(days=1),  # Yahoo's own end is exclusive
                    interval="1d",
                    auto_adjust=False,
                    actions=True,
                    keepna=True,
                )
        except Exception as raised:  # any: what matters is the last answer, below
            error = raised
        charts = [answer for answer in self._session.answers if answer.is_chart]
        if not charts:
            return _Trouble(plain(error) if error else "nothing was asked")
        return self._read(ticker, charts[-1], start, end)

    def _read(
        self, ticker: str, answer: Answer, start: datetime.date, end: datetime.date
    ) -> Fetched | _Trouble:
        if answer.status == 0:
            return _Trouble(answer.text)
        if answer.status == 429:
            return _Trouble("too many requests, status 429", answer.retry_after)
        if answer.status >= 500 or answer.status in (401, 403):
            return _Trouble(f"status {answer.status}", answer.retry_after)
        body = answer.json()
        if not isinstance(body, dict) or not isinstance(body.get("chart"), dict):
            return _Trouble(f"status {answer.status} with something that is no chart: {answer.text[:40]!r}")
        fault = body["chart"].get("error")
        if fault:
            return _declined(ticker, answer.status, fault)
        if "period1=" not in answer.url:
            return _Trouble("the exchange's time zone is missing from the answer")
        try:
            fetched = read_chart(body, start, end, self._now())
        except NoChartError as error:
            return _Trouble(f"an answer that is no chart ({error})")
        if fetched is None:
            raise UnknownTickerError(f"{ticker}: Yahoo has no finished bars from {start} to {end}")
        return fetched


def _declined(ticker: str, status: int, fault: Any) -> _Trouble:
    code, text = (
        (str(fault.get(key, "")) for key in ("code", "description")) if isinstance(fault, dict) else ("", "")
    )
    if status in (400, 404, 422) or code.lower() in _ABSENT:
        raise UnknownTickerError(f"{ticker}: Yahoo does not have it ({text or code or status})")
    return _Trouble(f"Yahoo's own error: {code} {text}".strip())


@lru_cache(maxsize=1)
def _prepared() -> Any:
    """Return yfinance, set so that failures surface and no other process shares its files."""
    import yfinance
    import yfinance.data

    yfinance.config.debug.hide_exceptions = False  # otherwise an outage looks like a delisting
    # Time zones and cookies lie in SQLite files; shared, they lock each other out.
    folder = tempfile.TemporaryDirectory(prefix="candlecast-yfinance-", ignore_cleanup_errors=True)
    yfinance.set_tz_cache_location(folder.name)
    yfinance.candlecast_folder = folder  # lives as long as the module does
    return yfinance


def open_yahoo(config: YahooConfig, cache: Path | None) -> Source:
    """Return the source with a connection of its own and, in the folder `cache`, a memory.

    Processes with the same folder share one pace.
    """
    if cache is None:
        return YahooSource(config, WatchedSession(Pace(config.requests_per_minute), config.timeout))
    store = BarStore(cache / "yahoo")
    pace = Pace(config.requests_per_minute, cache / "yahoo" / ".pace")
    source = YahooSource(config, WatchedSession(pace, config.timeout))
    return IncrementalSource(source, store, last_day_anywhere)


def last_day_anywhere() -> datetime.date:
    """Return the date where it is earliest on earth: the day before it is over everywhere."""
    return (datetime.datetime.now(datetime.UTC) - datetime.timedelta(hours=12)).date()
