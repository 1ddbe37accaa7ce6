import datetime

import pytest

from candlecast.data.calendar import exchange_sessions
from candlecast.data.sample import SampleSource
from candlecast.errors import ParamsError

START, END = datetime.date(2000, 3, 1), datetime.date(2013, 3, 1)


def test_new_yorks_calendar_has_exactly_the_sessions_of_apples_real_history() -> None:
    bars = SampleSource().fetch("AAPL", START, END).bars
    assert exchange_sessions("XNYS", START, END).to_list() == bars["date"].to_list()


def test_an_exchange_nobody_knows_names_the_key_and_examples() -> None:
    with pytest.raises(ParamsError, match=r"data\.calendar: no exchange is called 'WALL'.*XNYS"):
        exchange_sessions("WALL", START, END)


def test_dates_that_a_calendar_does_not_reach_are_an_error_of_ours() -> None:
    with pytest.raises(ParamsError, match=r"data\.calendar: XHKG: .*"):
        exchange_sessions("XHKG", datetime.date(1930, 1, 1), END)


def test_holidays_differ_between_exchanges() -> None:
    christmas = [datetime.date(2012, 12, day) for day in (24, 25, 26, 27)]
    assert exchange_sessions("XLON", christmas[0], christmas[3]).to_list() == [christmas[0], christmas[3]]
    assert exchange_sessions("XNYS", christmas[0], christmas[3]).to_list() == [
        christmas[0],
        christmas[2],
        christmas[3],
    ]
