"""Fetch a universe of bars once and keep it: everything later reads the snapshot, never the source."""

import datetime
import logging
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

import polars as pl

from candlecast.data.adjust import adjust
from candlecast.data.config import DataConfig
from candlecast.data.manifest import History, Manifest, content_hash
from candlecast.data.segments import number_segments
from candlecast.data.source import Source
from candlecast.data.sources import make_source, needs_network, universe_of, universe_tickers
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


def take_snapshot(config: DataConfig) -> Snapshot:
    """Fetch, adjust and check every ticker of the universe.

    A ticker whose history is too short is left out with a message; `DataError` if none is left, or if the
    source cannot give one that was asked for.
    """
    source = make_source(config)
    histories, left_out = _histories(source, config)
    if not histories:
        reasons = "; ".join(f"{ticker}: {reason}" for ticker, reason in left_out.items())
        raise DataError(f"data.tickers: no history is left ({reasons})")
    sessions = pl.concat([frame.select("date") for frame in histories.values()])["date"].unique().sort()
    numbered = [
        frame.select(
            pl.lit(ticker).alias("ticker"),
            "date",
            number_segments(frame["date"], sessions, config.max_gap),
            pl.exclude("date"),
        )
        for ticker, frame in histories.items()
    ]
    bars = check(pl.concat(numbered), BARS, "the snapshot")
    manifest = Manifest(
        source=source.name,
        versions={name: version(name) for name in (*source.packages(), "candlecast", "polars")},
        start=config.start.isoformat(),
        end=config.end.isoformat(),
        content_sha256=content_hash(bars),
        universe=universe_of(config),
        histories={frame["ticker"][0]: _describe(frame) for frame in numbered},
        left_out=left_out,
        retrieved_at=_now() if needs_network(config) else None,
    )
    return Snapshot(bars, manifest)


def _histories(source: Source, config: DataConfig) -> tuple[dict[str, pl.DataFrame], dict[str, str]]:
    """Return the adjusted bars of each ticker, sorted by name, and the reason for each left out."""
    histories: dict[str, pl.DataFrame] = {}
    left_out: dict[str, str] = {}
    for ticker in universe_tickers(config, source):
        raw = source.fetch(ticker, config.start, config.end)
        if raw.height < config.min_bars:
            reason = f"{raw.height} sessions, fewer than data.min_bars {config.min_bars}"
            _log.warning("left out %s: %s", ticker, reason)
            left_out[ticker] = reason
        else:
            histories[ticker] = adjust(raw)
    return histories, left_out


def _describe(frame: pl.DataFrame) -> History:
    return History(
        rows=frame.height,
        first=frame["date"][0].isoformat(),
        last=frame["date"][-1].isoformat(),
        segments=frame["segment"][-1] + 1,
    )


def _now() -> str:
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
