"""Fetch only what is missing or may have changed, and notice when a vendor has rewritten the past."""

import datetime
import logging
from collections.abc import Callable
from dataclasses import replace
from typing import Final

import polars as pl

from candlecast.data.pace import locked
from candlecast.data.revision import compare
from candlecast.data.source import Fetched, Source
from candlecast.data.store import BarStore, Stored

_log = logging.getLogger(__name__)
_OVERLAP: Final = 10  # settled bars that are fetched again beside new ones, to be compared


class IncrementalSource:
    """Another source with a memory: what was fetched whole is not asked for again.

    Bars the vendor may still change are asked for again once a day. Beside them some settled bars are: where
    those differ, as after a split or a dividend, the whole history is fetched anew and the change reported.
    """

    def __init__(self, source: Source, store: BarStore, today: Callable[[], datetime.date]) -> None:
        self._source = source
        self._store = store
        self._today = today

    @property
    def name(self) -> str:
        """The source's own."""
        return self._source.name

    def tickers(self) -> tuple[str, ...] | None:
        """The source's own."""
        return self._source.tickers()

    def packages(self) -> tuple[str, ...]:
        """The source's own."""
        return self._source.packages()

    def fetch(self, ticker: str, start: datetime.date, end: datetime.date) -> Fetched:
        """One ticker, both dates inclusive; raises as `Source.fetch` does, and keeps what it has then."""
        with locked(self._store.lock):  # another process may be fetching the same
            stored = self._store.load(ticker)
            if stored is None or start < stored.start or not self._is_current(stored, end):
                stored = self._update(ticker, stored, start, end)
                self._store.save(ticker, replace(stored, fetched=replace(stored.fetched, revision=None)))
        inside = pl.col("date").is_between(start, end)
        return replace(
            stored.fetched,
            bars=stored.fetched.bars.filter(inside),
            provisional=tuple(day for day in stored.fetched.provisional if start <= day <= end),
        )

    def _is_current(self, stored: Stored, end: datetime.date) -> bool:
        if stored.end < min(end, self._yesterday()):
            return False
        unsettled = any(day <= end for day in stored.fetched.provisional)
        return not unsettled or stored.asked_on >= self._today()

    def _update(self, ticker: str, stored: Stored | None, start: datetime.date, end: datetime.date) -> Stored:
        if stored is None:
            return self._whole(ticker, start, end)
        first, last = min(start, stored.start), max(end, stored.end)
        settled = _settled(stored.fetched)
        if start < stored.start or settled.height <= _OVERLAP:
            return self._revised(ticker, settled, first, last)
        overlap = settled.tail(_OVERLAP)
        recent = self._source.fetch(ticker, overlap["date"][0], last)
        if compare(ticker, overlap, recent.bars):
            return self._revised(ticker, settled, first, last)
        before = settled.head(settled.height - _OVERLAP)
        merged = replace(
            recent,
            bars=pl.concat([before, recent.bars]),
            splits={**stored.fetched.splits, **recent.splits},
        )
        return self._stored(merged, first, last)

    def _revised(self, ticker: str, old: pl.DataFrame, start: datetime.date, end: datetime.date) -> Stored:
        whole = self._whole(ticker, start, end)
        revision = compare(ticker, old, whole.fetched.bars) if old.height else None
        return replace(whole, fetched=replace(whole.fetched, revision=revision))

    def _whole(self, ticker: str, start: datetime.date, end: datetime.date) -> Stored:
        fetched = self._source.fetch(ticker, start, end)
        _log.info("fetched %s: %d bars to %s", ticker, fetched.bars.height, fetched.bars["date"].max())
        return self._stored(fetched, start, end)

    def _stored(self, fetched: Fetched, start: datetime.date, end: datetime.date) -> Stored:
        reached = min(end, self._yesterday())  # today's bar is not fetched, so today is not covered
        return Stored(fetched=fetched, start=start, end=reached, asked_on=self._today())

    def _yesterday(self) -> datetime.date:
        return self._today() - datetime.timedelta(days=1)


def _settled(fetched: Fetched) -> pl.DataFrame:
    """Return the stored bars that the vendor should not change any more, ascending."""
    bars = fetched.bars.sort("date", maintain_order=True)
    if fetched.provisional:
        bars = bars.filter(pl.col("date") < min(fetched.provisional))
    return bars
