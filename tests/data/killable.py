"""A whole download against the fake server, in a process of its own that a test may kill."""

import datetime
from dataclasses import replace
from pathlib import Path

import yfinance  # noqa: F401  (loaded once, before processes are forked from this one)
from data.fake_yahoo import LoopbackSession

from candlecast.data.config import DataConfig
from candlecast.data.incremental import IncrementalSource
from candlecast.data.snapshot import snapshot_of
from candlecast.data.store import BarStore
from candlecast.data.yahoo import YahooSource

TODAY = datetime.date(2026, 1, 5)


def download(config: DataConfig, port: int, store: Path, out: Path) -> None:
    yahoo = YahooSource(config.yahoo, LoopbackSession(port), sleep=lambda seconds: None)
    source = IncrementalSource(yahoo, BarStore(store), lambda: TODAY)
    snapshot = snapshot_of(source, config)
    manifest = replace(snapshot.manifest, retrieved_at=None)  # the one thing that differs by design
    replace(snapshot, manifest=manifest).save(out)
