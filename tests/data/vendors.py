"""Files as vendors give them, and the bars they hold."""

import datetime

from data.files_by_hand import BARS, HEADER, TEXT

VENDORS = {
    "Yahoo's old CSV, with null rows": (
        HEADER + "2020-01-02,1.0,3.0,1.0,2.0,1.0,10\n2020-01-03,null,null,null,null,null,null\n",
        [BARS[0], (datetime.date(2020, 1, 3), None, None, None, None, None, None)],
    ),
    "yfinance's, with offsets: no day is shifted": (
        "Date,Open,High,Low,Close,Volume,Dividends,Stock Splits\n"
        "2022-06-06 00:00:00+01:00,1,3,1,2,10,0.0,0.0\n2022-01-04 00:00:00+00:00,2,4,1,3,20,0.0,0.0\n",
        [
            (datetime.date(2022, 6, 6), 1.0, 3.0, 1.0, 2.0, 2.0, 10.0),
            (datetime.date(2022, 1, 4), 2.0, 4.0, 1.0, 3.0, 3.0, 20.0),
        ],
    ),
    "Investing.com's: byte-order mark, letters, newest first, a footer": (
        '\ufeff"Date","Price","Open","High","Low","Vol.","Change %"\n'
        '"Nov 03, 2017","1,234.50","1,230.00","1,240.10","1,225.00","497.30K","-0.86%"\n'
        '"Nov 02, 2017","1,245.25","1,230.00","1,250.00","1,225.00","22.79B","0.10%"\n'
        '"Nov 01, 2017","1,244.00","1,230.00","1,250.00","1,225.00","-","0.10%"\n'
        '"Highest: 1,250.00","Lowest: 1,225.00","Difference: 25","Average: 1,241","Change %: 1"\n',
        [
            (datetime.date(2017, 11, 3), 1230.0, 1240.1, 1225.0, 1234.5, 1234.5, 497_300.0),
            (datetime.date(2017, 11, 2), 1230.0, 1250.0, 1225.0, 1245.25, 1245.25, 22.79e9),
            (datetime.date(2017, 11, 1), 1230.0, 1250.0, 1225.0, 1244.0, 1244.0, None),
        ],
    ),
    "Nasdaq.com's: dollars, Close/Last, N/A": (
        "Date,Close/Last,Volume,Open,High,Low\n"
        "03/28/2013,$450.26,N/A,$449.82,$451.82,$447.25\n03/01/2013,$430.47,19740000,$438.00,$438.18,$429.98\n",
        [
            (datetime.date(2013, 3, 28), 449.82, 451.82, 447.25, 450.26, 450.26, None),
            (datetime.date(2013, 3, 1), 438.0, 438.18, 429.98, 430.47, 430.47, 19_740_000.0),
        ],
    ),
    "Stooq's": (
        "<TICKER>,<PER>,<DATE>,<TIME>,<OPEN>,<HIGH>,<LOW>,<CLOSE>,<VOL>,<OPENINT>\n"
        "AAPL.US,D,19840907,000000,0.1,0.11,0.09,0.1,97490000,0\n"
        "AAPL.US,D,20200103,000000,2,4,1,3,20,0\n",
        [
            (datetime.date(2020, 1, 3), 2.0, 4.0, 1.0, 3.0, 3.0, 20.0),
        ],
    ),
    "padded headers and fields, blank lines, Windows line ends": (
        " Date , Open,High ,Low, Close ,Adj  Close, VOLUME\r\n\r\n2020-01-02, 1 ,3,1, 2,1,10 \r\n\r\n",
        [BARS[0]],
    ),
    "every field in quotes": (
        '"Date","Open","High","Low","Close","Adj Close","Volume"\n"2020-01-02","1","3","1","2","1","10"\n',
        [BARS[0]],
    ),
    "semicolons": (TEXT.replace(",", ";"), BARS),
    "thousands separators in a volume beside decimal points": (
        'date,open,high,low,close,volume\n2020-01-02,1.5,3.5,1.0,2.25,"1,234,567"\n',
        [(datetime.date(2020, 1, 2), 1.5, 3.5, 1.0, 2.25, 2.25, 1_234_567.0)],
    ),
}
