"""Choose the source that `data.source` names, and know its universe."""

from pathlib import Path
from typing import Final

from candlecast.data.calendar import check_exchange
from candlecast.data.config import DataConfig
from candlecast.data.files import FilesSource
from candlecast.data.manifest import NOT_RECORDED, Universe
from candlecast.data.sample import SampleSource
from candlecast.data.source import Source
from candlecast.data.synthetic import SyntheticSource
from candlecast.errors import DataError, UnknownTickerError

_SURVIVORS: Final = (
    "chosen after the period began, so that what failed since may be missing: results lean to the good side"
)
_AT_THE_START: Final = "chosen before the period began: what failed since is in it, if its bars are"
_KNOWN: Final = {
    "sample": ("five shares that a plotting package brings as sample data", _SURVIVORS),
    "synthetic": ("made of random numbers", "nothing here was ever traded"),
}
_SHOWN: Final = 20  # tickers an error lists before it says how many more there are


def make_source(config: DataConfig, cache: Path | None = None) -> Source:
    """Return the source, without asking it for anything yet.

    `cache` is the folder in which one behind a network keeps what it fetched; None: it keeps nothing.
    """
    if config.source == "sample":
        return SampleSource()
    if config.source == "synthetic":
        return SyntheticSource(config.synthetic, config.end)
    if config.source == "files":
        return FilesSource(Path(config.path or ""), config.files)
    from candlecast.data.yahoo import open_yahoo  # half a second that the others need not spend

    return open_yahoo(config.yahoo, cache)


def needs_network(config: DataConfig) -> bool:
    """Whether the same parameters may give other bars tomorrow."""
    return config.source == "yahoo"


def universe_tickers(config: DataConfig, source: Source) -> tuple[str, ...]:
    """Return the tickers to fetch, sorted.

    A synthetic market makes its own; `data.tickers: []` means all that the source offers.
    """
    known = source.tickers()
    if config.source == "synthetic" and known is not None:
        return known
    if config.tickers:
        return tuple(sorted(config.tickers))
    if known is None:
        raise DataError(
            f"data.tickers: empty, and {source.name} cannot list what it offers; name the tickers"
        )
    return known


def check_source(config: DataConfig) -> None:
    """Raise `DataError` for an unknown exchange or ticker; asks no network and reads no bars it can spare."""
    if config.calendar is not None:
        check_exchange(config.calendar)
    check_tickers(config)


def check_tickers(config: DataConfig) -> None:
    """Raise `DataError` for a ticker the source is known not to have; asks no network."""
    source = make_source(config)
    known = source.tickers()
    if known is None or config.allow_missing:
        return
    for ticker in universe_tickers(config, source):
        if ticker not in known:
            more = f" and {len(known) - _SHOWN} more" if len(known) > _SHOWN else ""
            available = ", ".join(known[:_SHOWN]) + more or "nothing"
            raise UnknownTickerError(f"data.tickers: {source.name} has no {ticker}; it has {available}")


def universe_of(config: DataConfig) -> Universe:
    """Return how the tickers came to be chosen: `data.universe`, or what can be said of the source."""
    chosen, note = _KNOWN.get(config.source, ("named in data.tickers", _SURVIVORS))
    as_of = config.universe.as_of
    return Universe(
        chosen=config.universe.chosen or chosen,
        as_of=as_of.isoformat() if as_of else NOT_RECORDED,
        note=_AT_THE_START if as_of and as_of <= config.start else note,
    )
