import datetime
from collections.abc import Callable

import pytest
from data.files_by_hand import TEXT

from candlecast.data.source import Fetched


def test_two_close_columns_are_listed_and_the_key_decides(
    reads: Callable[..., Fetched], refuses: Callable[..., str]
) -> None:
    text = "Date,Open,High,Low,Close,Last,Volume\n2020-01-02,1,3,1,2,2.5,10\n"
    assert "'Close' and 'Last' may each be close; set data.files.close" in refuses(text)
    assert reads(text, close="Last").bars["close"].item() == 2.5
    twice = text.replace("Last", "Close")
    assert "'Close' and 'Close' may each be close" in refuses(twice)
    assert "data.files.close: " in refuses(text, close="Schluss")


@pytest.mark.parametrize(
    ("dates", "reading"),
    [
        (("01/02/2020", "02/03/2020"), None),
        (("01-02-2020", "02-03-2020"), None),
        (("01.02.2020", "02.03.2020"), None),
        (("01/02/2020", "01/13/2020"), "2020-01-13"),
        (("01/02/2020", "13/02/2020"), "2020-02-13"),
        (("01/01/2020", "02/02/2020"), "2020-02-02"),  # the same either way
    ],
)
def test_day_and_month_are_told_by_the_dates_or_asked_for(
    reads: Callable[..., Fetched], refuses: Callable[..., str], dates: tuple[str, str], reading: str | None
) -> None:
    text = TEXT.replace("2020-01-02", dates[0]).replace("2020-01-03", dates[1])
    if reading:
        assert str(reads(text).bars["date"][1]) == reading
        return
    assert "may be 2020-02-01 or 2020-01-02" in refuses(text)
    assert "set data.files.date_format" in refuses(text)
    mark = dates[0][2]
    assert str(reads(text, date_format=f"%m{mark}%d{mark}%Y").bars["date"][0]) == "2020-01-02"


def test_a_decimal_comma_is_asked_for(reads: Callable[..., Fetched], refuses: Callable[..., str]) -> None:
    german = "Date;Open;High;Low;Close;Volume\n2020-01-02;1.234,5;1.240;1.230,25;1.235;10.000\n"
    assert 'set data.files.decimal: ","' in refuses(german)
    expected = (datetime.date(2020, 1, 2), 1234.5, 1240.0, 1230.25, 1235.0, 1235.0, 10_000.0)
    assert reads(german, decimal=",").bars.rows() == [expected]


@pytest.mark.parametrize(("decimal", "value"), [(".", 1234.0), (",", 1.234)])
def test_a_comma_before_three_digits_everywhere_is_asked_for(
    reads: Callable[..., Fetched], refuses: Callable[..., str], decimal: str, value: float
) -> None:
    text = "Date;Open;High;Low;Close;Volume\n" + "2020-01-02;1,234;1,234;1,234;1,234;5\n"
    assert "may be thousands or decimals" in refuses(text)
    assert reads(text, decimal=decimal).bars["close"].item() == value


def test_a_volume_of_thousandths_everywhere_is_asked_for(
    reads: Callable[..., Fetched], refuses: Callable[..., str]
) -> None:
    text = TEXT.replace(",10\n", ",497.300\n").replace(",20\n", ",512.125\n")
    assert "Volume: 497.300 may be thousands or decimals" in refuses(text)
    assert reads(text, decimal=".").bars["volume"].to_list() == [497.3, 512.125]


@pytest.mark.parametrize(
    ("stamps", "zone", "expected"),
    [
        (("1577923200", "1578009600"), None, "2020-01-02"),  # midnights in UTC
        (("1577923200000", "1578009600000"), None, "2020-01-02"),
        (("1577975400", "1578061800"), None, None),  # 14:30 in UTC
        (("1577975400", "1578061800"), "America/New_York", "2020-01-02"),
        (("1577919600", "1578006000"), "Europe/Berlin", "2020-01-02"),  # midnight there, 23:00 in UTC
        (("2020-01-01T23:00:00Z", "2020-01-02T23:00:00Z"), "Europe/Berlin", "2020-01-02"),
        (("2020-01-01T23:00:00Z", "2020-01-02T23:00:00Z"), None, "2020-01-01"),  # its own local date
    ],
)
def test_a_point_in_time_is_a_date_only_somewhere(
    reads: Callable[..., Fetched],
    refuses: Callable[..., str],
    stamps: tuple[str, str],
    zone: str | None,
    expected: str | None,
) -> None:
    text = TEXT.replace("2020-01-02", stamps[0]).replace("2020-01-03", stamps[1])
    if expected:
        assert str(reads(text, timezone=zone).bars["date"][0]) == expected
    else:
        assert "whose date depends on the place; set data.files.timezone" in refuses(text)


def test_an_unknown_zone_and_a_senseless_format_name_their_keys(refuses: Callable[..., str]) -> None:
    assert "data.files.timezone: 'Mars' is no time zone" in refuses(TEXT, timezone="Mars")
    assert "set data.files.date_format" in refuses(TEXT, date_format="%d/%m/%Y")


@pytest.mark.parametrize(
    "written",
    ["2020-1-2", "2020/01/02", "2020.01.02", "20200102", "January 2, 2020", "2-Jan-2020", "02 Jan 2020",
     "2020-01-02T16:00:00.000", "2020-01-02 16:00", "01/02/2020 16:00:00"],
)  # fmt: skip
def test_a_date_in_a_form_that_can_be_but_one_is_read(reads: Callable[..., Fetched], written: str) -> None:
    other = {"01/02/2020 16:00:00": "01/13/2020 16:00:00"}.get(written, written)
    text = TEXT.replace("2020-01-02", f'"{written}"').replace("2020-01-03", f'"{other}"')
    assert str(reads(text).bars["date"][0]) == "2020-01-02"
