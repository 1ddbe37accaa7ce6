import datetime
import itertools
import logging
from collections.abc import Callable

import pytest
from data.fake_yahoo import BROKEN, TOO_MANY, WEB_PAGE, FakeYahoo, Reply, not_found, walk, weekdays

from candlecast.data.source import RAW_BARS
from candlecast.data.yahoo import YahooSource
from candlecast.errors import DataError, UnknownTickerError, UnreachableError
from candlecast.schema import check

Build = Callable[..., YahooSource]
START, END = datetime.date(2020, 1, 6), datetime.date(2020, 3, 31)
DAYS = weekdays("2020-01-01", 100)


@pytest.fixture(autouse=True)
def _ordinary_share(fake_yahoo: FakeYahoo) -> None:
    fake_yahoo.charts["AAA"] = walk(DAYS)


def test_bars_come_with_both_dates_inclusive_and_as_the_vendor_has_them(
    yahoo: Build, fake_yahoo: FakeYahoo
) -> None:
    bars = check(yahoo().fetch("AAA", START, END).bars, RAW_BARS, "yahoo")
    expected = [row for row in fake_yahoo.charts["AAA"].rows if START <= row[0] <= END]
    assert bars.rows() == expected


def test_it_speaks_cookie_and_crumb(yahoo: Build, fake_yahoo: FakeYahoo) -> None:
    yahoo().fetch("AAA", START, END)
    assert fake_yahoo.asked_for_bars("AAA")[0]["crumb"] == "crumb-of-the-fake"


# Yfinance itself asks a second time, with another cookie, when a status is 400 or more.
@pytest.mark.parametrize(
    ("faults", "attempts"),
    [
        ([TOO_MANY, TOO_MANY], 2),
        ([BROKEN, BROKEN], 2),
        ([Reply(503, "<html></html>")] * 4, 3),
        ([Reply(403, "")] * 2, 2),
        ([WEB_PAGE], 2),
        ([Reply(200, '{"chart": {"resu')], 2),
        ([Reply(200, '{"chart": {"resu', truncated=True)], 2),
        ([Reply(200, '{"chart": {"result": [], "error": null}}')], 2),
        ([Reply(200, '{"finance": 1}')], 2),
        (
            [
                Reply(
                    200,
                    '{"chart": {"result": null, "error": {"code": "internal-error", "description": "x"}}}',
                )
            ],
            2,
        ),
    ],
)
def test_trouble_that_passes_is_waited_out(
    yahoo: Build, fake_yahoo: FakeYahoo, faults: list[Reply], attempts: int
) -> None:
    pauses: list[float] = []
    fake_yahoo.faults["AAA"] = iter(faults)
    assert yahoo(pauses=pauses).fetch("AAA", START, END).bars.height == 62
    assert len(pauses) == attempts - 1


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        (TOO_MANY, "too many requests, status 429"),
        (BROKEN, "status 500"),
        (WEB_PAGE, "something that is no chart: '<html>"),
        (Reply(404, "<html>a proxy's page</html>"), "status 404 with something that is no chart"),
        (Reply(200, '{"chart": {"resu'), "something that is no chart"),
        (Reply(200, "{}", truncated=True), "IncompleteRead"),
    ],
)
def test_trouble_that_stays_is_no_delisting(
    yahoo: Build, fake_yahoo: FakeYahoo, fault: Reply, reason: str
) -> None:
    fake_yahoo.faults["AAA"] = itertools.repeat(fault)
    with pytest.raises(
        UnreachableError, match=f"AAA could not be reached .*{reason}.*tried 3 times"
    ) as caught:
        yahoo().fetch("AAA", START, END)
    assert "\n" not in str(caught.value)


def test_a_slow_server_and_one_that_is_not_there_are_out_of_reach(
    yahoo: Build, fake_yahoo: FakeYahoo
) -> None:
    fake_yahoo.faults["AAA"] = itertools.repeat(Reply(delay=2.0))
    with pytest.raises(UnreachableError, match="Timeout"):
        yahoo(attempts=1, timeout=0.2).fetch("AAA", START, END)
    source = yahoo(attempts=1)
    fake_yahoo.close()
    with pytest.raises(UnreachableError, match="could not be reached"):
        source.fetch("AAA", START, END)


def test_a_fault_while_the_time_zone_is_asked_for_is_no_delisting(
    yahoo: Build, fake_yahoo: FakeYahoo
) -> None:
    fake_yahoo.charts["ZONE"] = walk(DAYS)
    fake_yahoo.zone_faults["ZONE"] = iter([WEB_PAGE, BROKEN, BROKEN])
    assert yahoo().fetch("ZONE", START, END).bars.height == 62


@pytest.mark.parametrize(
    "reply",
    [
        None,
        not_found("NOPE"),
        Reply(
            400,
            '{"chart": {"result": null, "error": {"code": "Bad Request", "description": "no data then"}}}',
        ),
    ],
)
def test_a_ticker_yahoo_does_not_have_is_told_apart_and_not_asked_again(
    yahoo: Build, fake_yahoo: FakeYahoo, reply: Reply | None
) -> None:
    pauses: list[float] = []
    if reply:
        fake_yahoo.charts["NOPE"] = walk(DAYS)
        fake_yahoo.faults["NOPE"] = itertools.repeat(reply)
    with pytest.raises(UnknownTickerError, match="NOPE: Yahoo does not have it"):
        yahoo(pauses=pauses).fetch("NOPE", START, END)
    assert pauses == []


def test_a_ticker_without_bars_between_the_dates_is_unknown_there(yahoo: Build) -> None:
    with pytest.raises(
        UnknownTickerError, match="AAA: Yahoo has no finished bars from 2021-02-01 to 2021-03-01"
    ):
        yahoo().fetch("AAA", datetime.date(2021, 2, 1), datetime.date(2021, 3, 1))


def test_pauses_grow_and_a_servers_wish_for_longer_is_honoured(yahoo: Build, fake_yahoo: FakeYahoo) -> None:
    pauses: list[float] = []
    fake_yahoo.faults["AAA"] = itertools.repeat(BROKEN)
    with pytest.raises(UnreachableError):
        yahoo(attempts=5, pauses=pauses).fetch("AAA", START, END)
    assert all(2**number <= pause <= 2 ** (number + 1) for number, pause in enumerate(pauses))
    wish = Reply(429, "", {"Retry-After": "77"})
    pauses.clear()
    fake_yahoo.faults["AAA"] = iter([wish, wish])
    yahoo(pauses=pauses).fetch("AAA", START, END)
    assert pauses == [77.0]


def test_a_wish_for_hours_is_an_answer_for_a_person(yahoo: Build, fake_yahoo: FakeYahoo) -> None:
    fake_yahoo.faults["AAA"] = itertools.repeat(Reply(429, "", {"Retry-After": "7200"}))
    pauses: list[float] = []
    with pytest.raises(UnreachableError, match="tried once"):
        yahoo(pauses=pauses).fetch("AAA", START, END)
    assert pauses == []


def test_each_attempt_is_told_to_whoever_waits(
    yahoo: Build, fake_yahoo: FakeYahoo, caplog: pytest.LogCaptureFixture
) -> None:
    fake_yahoo.faults["AAA"] = iter([WEB_PAGE])
    with caplog.at_level(logging.INFO):
        yahoo().fetch("AAA", START, END)
    assert "AAA: status 200 with something that is no chart" in caplog.text
    assert "attempt 2 follows in" in caplog.text


@pytest.mark.parametrize("ticker", ["^GSPC", "EURUSD=X", "BRK-B", "7203.T"])
def test_a_ticker_of_any_shape_is_asked_for_by_its_name(
    yahoo: Build, fake_yahoo: FakeYahoo, ticker: str
) -> None:
    fake_yahoo.charts[ticker] = walk(DAYS)
    assert yahoo().fetch(ticker, START, END).bars.height == 62
    assert fake_yahoo.asked_for_bars(ticker)


def test_every_outcome_but_bars_is_an_error_of_ours(yahoo: Build, fake_yahoo: FakeYahoo) -> None:
    for body in ("null", "[]", '"text"', '{"chart": null}', '{"chart": {"result": [null], "error": null}}'):
        fake_yahoo.faults["AAA"] = itertools.repeat(Reply(200, body))
        with pytest.raises(DataError):
            yahoo(attempts=1).fetch("AAA", START, END)


def test_yfinances_own_files_are_this_processs_alone(yahoo: Build) -> None:
    from yfinance.cache import _CookieDBManager, _TzDBManager

    yahoo().fetch("AAA", START, END)
    for manager in (_TzDBManager, _CookieDBManager):
        assert "candlecast-yfinance-" in str(manager.get_location())
