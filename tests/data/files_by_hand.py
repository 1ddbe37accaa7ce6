"""The smallest files that hold bars, and how the tests read them."""

import datetime
from dataclasses import replace
from pathlib import Path
from typing import Any

from candlecast.data.config import DataConfig, FilesConfig
from candlecast.data.files import FilesSource
from candlecast.data.source import Fetched
from candlecast.params import load_params

START, END = datetime.date(2000, 1, 1), datetime.date(2030, 1, 1)
PARAMS = Path(__file__).parents[2] / "params.yaml"
PLAIN: FilesConfig = load_params("data", DataConfig, PARAMS).files
HEADER = "Date,Open,High,Low,Close,Adj Close,Volume\n"
TEXT = HEADER + "2020-01-02,1,3,1,2,1,10\n2020-01-03,2,4,1,3,1.5,20\n"
BARS = [
    (datetime.date(2020, 1, 2), 1.0, 3.0, 1.0, 2.0, 1.0, 10.0),
    (datetime.date(2020, 1, 3), 2.0, 4.0, 1.0, 3.0, 1.5, 20.0),
]


def read(
    path: Path,
    ticker: str = "AAA",
    start: datetime.date = START,
    end: datetime.date = END,
    **keys: Any,
) -> Fetched:
    return FilesSource(path, replace(PLAIN, **keys)).fetch(ticker, start, end)
