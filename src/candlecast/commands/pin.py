"""`candlecast pin-end`: the latest complete session as `data.end`, which must not move under a rerun."""

import datetime
import re
from collections import Counter
from pathlib import Path
from typing import Final

import polars as pl
from ruamel.yaml import YAML

from candlecast.data.config import DataConfig
from candlecast.data.source import PRICES, Source
from candlecast.data.sources import make_source, needs_network, universe_tickers
from candlecast.errors import DataError, UnknownTickerError
from candlecast.files import write_text
from candlecast.params import load_params

_ASKED: Final = 5  # tickers, evenly chosen: a thousand would take an hour
_LOOK_BACK: Final = datetime.timedelta(days=21)  # longer than any exchange's holidays


def latest_complete_session(config: DataConfig, source: Source, today: datetime.date) -> datetime.date:
    """Return the latest session that at least half of the tickers asked have complete.

    At most five are asked, so that one suspended share does not hold the others back. Raises `DataError`.
    """
    since = today - _LOOK_BACK if needs_network(config) else config.start
    tickers = universe_tickers(config, source)
    asked = tickers[:: -(-len(tickers) // _ASKED)]
    seen: Counter[datetime.date] = Counter()
    for ticker in asked:
        try:
            bars = source.fetch(ticker, since, today).bars
        except UnknownTickerError:
            continue
        complete = bars.filter(pl.all_horizontal(pl.col(name).is_finite() for name in PRICES))
        seen.update(complete["date"].unique())
    enough = [date for date, count in seen.items() if 2 * count >= len(asked)]
    if not enough:
        raise DataError(f"data.tickers: none of {', '.join(asked)} has a complete session since {since}")
    return max(enough)


def pin_end(params: Path, today: datetime.date | None = None) -> datetime.date:
    """Set `data.end` in the parameters file to the latest complete session and return it.

    Only that one value of the file changes. Of a source without a network that is its last bar.
    """
    config = load_params("data", DataConfig, params)
    day = today or datetime.datetime.now(datetime.UTC).date()
    end = latest_complete_session(config, make_source(config), day)
    write_text(params, with_end(params.read_text(encoding="utf-8"), end))
    return end


def with_end(text: str, end: datetime.date) -> str:
    """Return the parameters' text with `data.end` replaced, comments and all else untouched."""
    section = YAML().load(text)["data"]
    line, column = section.lc.value("end")
    lines = text.splitlines(keepends=True)
    lines[line] = lines[line][:column] + re.sub(
        r"^([\"']?)[^\s#,}\"']+", rf"\g<1>{end}", lines[line][column:]
    )
    return "".join(lines)
