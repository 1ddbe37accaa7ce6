"""Fetch a universe of bars once and keep it: everything later reads the snapshot, never the source."""

import datetime
import logging
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

import polars as pl

from candlecast.data.calendar import exchange_sessions
from candlecast.data.config import DataConfig
from candlecast.data.continuity import all_sessions, segmented
from candlecast.data.gather import Gathered, Origin, gather, reason_of
from candlecast.data.manifest import History, Manifest, content_hash
from candlecast.data.quality import Quality, policies
from candlecast.data.source import Source
from candlecast.data.sources import make_source, needs_network, universe_of, universe_tickers
from candlecast.data.validate import Judge, LeftOutError
from candlecast.errors import DataError
from candlecast.files import replacing
from candlecast.schema import BARS, check

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Adjusted bars (`schema.BARS`, sorted by ticker and date) and where they came from."""

    bars: pl.DataFrame
    manifest: Manifest

    def save(self, folder: Path) -> None:
        """Write bars.parquet and then manifest.json; the same bars give the same bytes."""
        with replacing(folder / "bars.parquet") as temporary:
            self.bars.write_parquet(
                temporary, compression="zstd", compression_level=3, row_group_size=100_000
            )
        self.manifest.save(folder / "manifest.json")


def read_bars(path: Path) -> pl.DataFrame:
    """Read what `Snapshot.save` wrote, or raise `DataError`."""
    if not path.is_file():
        raise DataError(f"{path}: no such file; run the download stage: dvc repro download")
    return check(pl.read_parquet(path), BARS, str(path))


def take_snapshot(config: DataConfig, cache: Path | None = None) -> Snapshot:
    """Fetch, check and adjust every ticker of the universe.

    A history that a check leaves out is left out with a message.

    Parameters
    ----------
    config
        The `data` section.
    cache
        Folder in which a source behind a network keeps what it fetched, so that a run that was cut short, or
        that asks for more, fetches only what is missing; None: it keeps nothing.

    Raises
    ------
    DataError
        No history is left, the source lacks one, or a check's policy is to stop.
    """
    return snapshot_of(make_source(config, cache), config)


def snapshot_of(source: Source, config: DataConfig) -> Snapshot:
    """As `take_snapshot`, of a source that stands ready."""
    sessions = None
    if config.calendar is not None:
        sessions = exchange_sessions(config.calendar, config.start, config.end)
    gathered = gather(source, universe_tickers(config, source), config, sessions)
    frames = _segment_all(gathered, config, sessions)
    if not frames:
        reasons = "; ".join(f"{ticker}: {reason}" for ticker, reason in gathered.left_out.items())
        raise DataError(f"data.tickers: no history is left ({reasons})")
    bars = check(pl.concat(list(frames.values())), BARS, "the snapshot")
    quality = Quality(policies=policies(config.checks), findings=tuple(gathered.findings))
    for line in quality.summary():
        _log.warning("%s", line)
    return Snapshot(bars, _describe(config, source, gathered, frames, quality, content_hash(bars)))


def _segment_all(
    gathered: Gathered, config: DataConfig, calendar: pl.Series | None
) -> dict[str, pl.DataFrame]:
    """Return each history as BARS; those without a long enough stretch are left out."""
    sessions = all_sessions(gathered.histories, calendar)
    frames: dict[str, pl.DataFrame] = {}
    for ticker, bars in list(gathered.histories.items()):
        judge = Judge(ticker, config.checks)
        try:
            numbered = segmented(judge, bars, sessions, config)
        except LeftOutError as error:
            gathered.leave_out(ticker, reason_of(judge, str(error), config))
        else:
            frames[ticker] = numbered.select(pl.lit(ticker).alias("ticker"), *BARS.names()[1:])
        gathered.findings += judge.findings
    return frames


def _describe(
    config: DataConfig,
    source: Source,
    gathered: Gathered,
    frames: dict[str, pl.DataFrame],
    quality: Quality,
    sha256: str,
) -> Manifest:
    return Manifest(
        source=source.name,
        versions={name: version(name) for name in (*source.packages(), "candlecast", "polars")},
        start=config.start.isoformat(),
        end=config.end.isoformat(),
        content_sha256=sha256,
        universe=universe_of(config),
        histories={ticker: _history(frame, gathered.origins[ticker]) for ticker, frame in frames.items()},
        left_out=gathered.left_out,
        quality=quality,
        revisions=tuple(gathered.revisions),
        retrieved_at=_now() if needs_network(config) else None,
    )


def _history(frame: pl.DataFrame, origin: Origin) -> History:
    return History(
        rows=frame.height,
        first=frame["date"][0].isoformat(),
        last=frame["date"][-1].isoformat(),
        segments=frame["segment"][-1] + 1,
        currency=origin.currency,
        provisional=tuple(date.isoformat() for date in origin.provisional),
        notes=origin.notes,
    )


def _now() -> str:
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
