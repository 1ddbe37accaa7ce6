from collections.abc import Callable

import pytest
from data.files_by_hand import BARS, HEADER, TEXT
from data.vendors import VENDORS

from candlecast.data.source import Fetched


@pytest.mark.parametrize("vendor", VENDORS)
def test_it_reads(reads: Callable[..., Fetched], vendor: str) -> None:
    text, expected = VENDORS[vendor]
    assert reads(text).bars.rows() == expected


def test_a_footer_is_left_out_with_a_note(reads: Callable[..., Fetched]) -> None:
    same_width = TEXT + "Source: somewhere,,,,,,\n"
    assert "last line left out, a footer: 'Source: somewhere" in reads(same_width).notes[0]
    assert reads(same_width).bars.rows() == BARS
    shorter = TEXT + "Highest: 4,Lowest: 1\n"
    assert reads(shorter).notes == ("AAA.csv: last line left out, a footer: 'Highest: 4,Lowest: 1'",)


def test_a_file_without_header_is_read_once_its_columns_are_named(
    reads: Callable[..., Fetched], refuses: Callable[..., str]
) -> None:
    text = TEXT.removeprefix(HEADER)
    assert "names no column; set data.files.columns" in refuses(text)
    names = ("date", "open", "high", "low", "close", "adj close", "volume")
    assert reads(text, columns=names).bars.rows() == BARS
    assert "line 1 has 7 fields instead of 3" in refuses(text, columns=names[:3])
    assert "line 1: 'Date' is no date" in refuses(TEXT, columns=names)


def test_a_file_in_another_encoding_is_read_once_it_is_named(
    reads: Callable[..., Fetched], refuses: Callable[..., str]
) -> None:
    latin = (HEADER.replace("\n", ",Währung\n") + "2020-01-02,1,3,1,2,1,10,€\n").encode("cp1252")
    assert "is not UTF-8; set data.files.encoding" in refuses(latin)
    assert reads(latin, encoding="cp1252").bars.rows() == BARS[:1]
    assert reads(TEXT.encode("utf-16")).bars.rows() == BARS
    assert "data.files.encoding, e.g. utf-16" in refuses(TEXT.encode("utf-16-le"))
    assert "data.files.encoding: Python knows no 'klingon'" in refuses(TEXT, encoding="klingon")
