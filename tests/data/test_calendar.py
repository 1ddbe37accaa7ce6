import datetime

import pytest

from candlecast.data.calendar import exchange_sessions
from candlecast.data.sample import SampleSource
from candlecast.errors import DataError, ParamsError

START, END = datetime.date(2000, 3, 1), datetime.date(2013, 3, 1)


def test_new_yorks_calendar_has_exactly_the_sessions_of_apples_real_history() -> None:
    bars = SampleSource().fetch("AAPL", START, END).bars
    assert exchange_sessions("XNYS", START, END).to_list() == bars["date"].to_list()


def test_an_exchange_nobody_knows_names_the_key_and_examples() -> None:
    with pytest.raises(DataError, match=r"data\.calendar: no exchange is called 'WALL'.*XNYS"):
        exchange_sessions("WALL", START, END)


def test_dates_that_a_calendar_does_not_reach_are_an_error_of_ours() -> None:
    with pytest.raises(ParamsError, match=r"data\.calendar: XHKG: .*"):
        exchange_sessions("XHKG", datetime.date(1930, 1, 1), END)


def test_neither_date_need_be_a_session() -> None:
    saturday, sunday = datetime.date(2010, 1, 2), datetime.date(2010, 1, 10)
    week = [datetime.date(2010, 1, day) for day in range(4, 9)]
    assert exchange_sessions("XNYS", saturday, week[-1]).to_list() == week
    assert exchange_sessions("XNYS", week[0], sunday).to_list() == week
    assert exchange_sessions("XNYS", saturday, sunday).to_list() == week
    assert exchange_sessions("XNYS", saturday, datetime.date(2010, 1, 3)).to_list() == []


def test_the_first_and_the_last_day_a_calendar_reaches_can_be_asked_for() -> None:
    first, last = datetime.date(1960, 1, 1), datetime.date(2049, 12, 31)
    early = exchange_sessions("XHKG", first, datetime.date(1960, 1, 16))
    late = exchange_sessions("XHKG", datetime.date(2049, 12, 18), last)
    assert first <= early[0] < datetime.date(1960, 1, 6)
    assert datetime.date(2049, 12, 29) < late[-1] <= last


def test_holidays_differ_between_exchanges() -> None:
    christmas = [datetime.date(2012, 12, day) for day in (24, 25, 26, 27)]
    assert exchange_sessions("XLON", christmas[0], christmas[3]).to_list() == [christmas[0], christmas[3]]
    assert exchange_sessions("XNYS", christmas[0], christmas[3]).to_list() == [
        christmas[0],
        christmas[2],
        christmas[3],
    ]
