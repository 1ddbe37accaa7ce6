import datetime
import logging
from collections.abc import Callable

import polars as pl
import pytest
from data.fake_yahoo import walk, weekdays

from candlecast.data.config import DataConfig
from candlecast.data.gather import gather
from candlecast.data.source import RAW_BARS, Fetched
from candlecast.errors import UnknownTickerError, UnreachableError

Build = Callable[..., DataConfig]
BARS = pl.DataFrame(walk(weekdays("2020-01-01", 40)).rows, schema=RAW_BARS, orient="row")


class Script:
    """A source that has what it is told to have."""

    name = "script"

    def __init__(self, **outcomes: pl.DataFrame | Exception) -> None:
        self.outcomes = outcomes
        self.asked: list[str] = []

    def tickers(self) -> None:
        return None

    def packages(self) -> tuple[str, ...]:
        return ()

    def fetch(self, ticker: str, start: datetime.date, end: datetime.date) -> Fetched:
        self.asked.append(ticker)
        outcome = self.outcomes[ticker]
        if isinstance(outcome, Exception):
            raise outcome
        return Fetched(bars=outcome)


DOWN = UnreachableError("x could not be reached")
GONE = UnknownTickerError("x: not there")


def test_unknown_tickers_are_all_named_after_all_others_were_fetched(data_config: Build) -> None:
    source = Script(A=BARS, B=GONE, C=BARS, D=UnknownTickerError("D: not there either"))
    with pytest.raises(
        UnknownTickerError, match=r"x: not there; D: not there either.*data\.allow_missing: true"
    ):
        gather(source, tuple("ABCD"), data_config(min_bars=20), None)
    assert source.asked == list("ABCD")


def test_an_unknown_ticker_may_be_left_out_with_a_message(
    data_config: Build, caplog: pytest.LogCaptureFixture
) -> None:
    config = data_config(min_bars=20, allow_missing=True)
    with caplog.at_level(logging.WARNING):
        gathered = gather(Script(A=BARS, B=GONE), ("A", "B"), config, None)
    assert list(gathered.histories) == ["A"]
    assert gathered.left_out == {"B": "x: not there"}
    assert "left out B: x: not there" in caplog.text


def test_an_unreachable_ticker_fails_the_stage_even_where_missing_ones_are_allowed(
    data_config: Build,
) -> None:
    source = Script(A=BARS, B=DOWN, C=GONE, D=BARS)
    with pytest.raises(UnreachableError, match=r"could not be reached.*run again to go on from there"):
        gather(source, tuple("ABCD"), data_config(min_bars=20, allow_missing=True), None)
    assert source.asked == list("ABCD")


def test_three_in_a_row_out_of_reach_and_the_rest_is_not_tried(data_config: Build) -> None:
    source = Script(A=DOWN, B=BARS, C=DOWN, D=DOWN, E=DOWN, F=BARS, G=BARS)
    with pytest.raises(UnreachableError, match="2 more not tried"):
        gather(source, tuple("ABCDEFG"), data_config(min_bars=20), None)
    assert source.asked == list("ABCDE")


def test_a_history_that_a_check_drops_is_left_out_with_the_check_named(data_config: Build) -> None:
    bad = BARS.with_columns(pl.lit(1e9).alias("low"))
    config = data_config(min_bars=20, checks__price_order="drop_ticker")
    gathered = gather(Script(A=BARS, B=bad), ("A", "B"), config, None)
    assert gathered.left_out["B"].startswith("40 bars whose high is below")
    assert gathered.left_out["B"].endswith("data.checks.price_order is drop_ticker")
    assert [finding.ticker for finding in gathered.findings] == ["B"]


def test_too_short_may_be_an_error(data_config: Build) -> None:
    with pytest.raises(Exception, match=r"A: 40 bars, in the longest stretch.*data\.checks\.too_short"):
        gather(Script(A=BARS), ("A",), data_config(min_bars=50, checks__too_short="error"), None)
