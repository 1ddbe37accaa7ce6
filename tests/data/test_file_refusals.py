from collections.abc import Callable

import pytest
from data.files_by_hand import HEADER, TEXT


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "AAA.csv: is empty"),
        ("\n \n", "AAA.csv: is empty"),
        (HEADER, "AAA.csv: has columns and no rows"),
        ("Date,Open\n2020-01-02,1\n", "no column for high; it has Date, Open; set data.files.high"),
        (TEXT.replace("2020-01-03,2", "2020-01-03,two"), "Open, line 3: 'two' is no number"),
        (TEXT.replace("2020-01-03,2", "2020-01-03,1_000"), "Open, line 3: '1_000' is no number"),
        (TEXT.replace("2020-01-03,2", "2020-01-03,(2)"), "Open, line 3: '(2)' is no number"),
        (TEXT.replace("2020-01-02", "2020-13-45"), "Date, line 2: '2020-13-45' is no date"),
        (TEXT.replace("2020-01-03", "03.01.20"), "Date, line 3: '03.01.20' is no date"),
        (TEXT.replace("2020-01-02", "01/02/20"), "line 2: '01/02/20' is no date; set data.files.date_format"),
        (TEXT.replace("2020-01-02", ""), "Date, line 2: there is no date"),
        (TEXT.replace("2020-01-02", "1066-10-14"), "'1066-10-14' is no date"),
        (TEXT + "2020-01-06,1,2\n", "line 4 has 3 fields instead of 7"),
        (TEXT + "Highest: 4,Lowest: 1\n2020-01-06,2,4,1,3,1.5,20\n", "line 4 has 2 fields instead of 7"),
        (TEXT + "2020-01-06,2,4,1,3,1.5,20,9\n", "line 4 has 8 fields instead of 7"),
        (TEXT + '2020-01-06,"2,4,1,3,1.5,20\n', "unexpected end of data"),
        ("a b c\nd e f\n", "none of comma, semicolon, tab and bar can be what divides its first line"),
        ("a,b;c\n1,2;3\n1,2;3\n", "more than one of comma, semicolon, tab and bar"),
        (
            "<TICKER>,<PER>,<DATE>,<OPEN>,<HIGH>,<LOW>,<CLOSE>,<VOL>\nA,60,20200102,1,3,1,2,10\n",
            "<PER> is '60'; only daily bars (D) are read",
        ),
        ("ticker," + HEADER + ",2020-01-02,1,3,1,2,1,10\n", "line 2 has no ticker"),
        (TEXT.replace("2020-01-02", "<html>"), "'<html>' is no date"),
    ],
)  # fmt: skip
def test_it_refuses_with_place_and_reason(refuses: Callable[..., str], text: str, reason: str) -> None:
    assert reason in refuses(text)
