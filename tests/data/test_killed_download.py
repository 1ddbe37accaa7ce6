import datetime
import multiprocessing
import os
import random
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from data.fake_yahoo import FakeYahoo, walk, weekdays
from data.killable import download

from candlecast.data.config import DataConfig
from candlecast.data.store import BarStore
from candlecast.data.ticker_names import ticker_of

TICKERS = tuple(f"T{number:02d}" for number in range(50))
KILLS = 20


@pytest.fixture(autouse=True)
def _path_of_the_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))  # for the process that all others come from


def start(config: DataConfig, port: int, store: Path, out: Path) -> multiprocessing.process.BaseProcess:
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["data.killable"])
    process = context.Process(target=download, args=(config, port, store, out))
    process.start()
    return process


@pytest.mark.slow
def test_a_download_killed_at_20_random_moments_ends_as_one_never_killed(
    fake_yahoo: FakeYahoo, data_config: Callable[..., DataConfig], tmp_path: Path
) -> None:
    days = weekdays("2020-01-01", 60)
    fake_yahoo.charts = {ticker: walk(days, 20 + number) for number, ticker in enumerate(TICKERS)}
    config = data_config(
        source="yahoo", tickers=TICKERS, start=days[0], end=datetime.date(2020, 6, 1), min_bars=20
    )
    moments = random.Random(17)

    def run(store: str, out: str) -> multiprocessing.process.BaseProcess:
        return start(config, fake_yahoo.port, tmp_path / store, tmp_path / out)

    kept: dict[str, int] = {}  # ticker: how many requests there had been when its file was first seen
    killed = 0
    while killed < KILLS:
        until = len(fake_yahoo.requests) + moments.randint(0, 9)
        process = run("store", "killed")
        while len(fake_yahoo.requests) < until and process.is_alive():
            time.sleep(0.001)
        time.sleep(moments.uniform(0, 0.02))
        assert process.is_alive(), "the download ended before it was killed often enough"
        process.kill()
        process.join()
        killed += 1
        for file in sorted((tmp_path / "store").glob("[!.]*.parquet")):
            assert BarStore(tmp_path / "store").load(ticker_of(file.stem)) is not None  # whole
            kept.setdefault(ticker_of(file.stem), len(fake_yahoo.requests))
    assert 0 < len(kept) < len(TICKERS)
    assert not (tmp_path / "killed").exists()

    last = run("store", "killed")
    last.join()
    assert last.exitcode == 0
    for ticker, before in kept.items():
        assert ticker not in {name for name, _ in fake_yahoo.requests[before:]}

    undisturbed = run("other", "undisturbed")
    undisturbed.join()
    for name in ("bars.parquet", "manifest.json"):
        assert (tmp_path / "killed" / name).read_bytes() == (tmp_path / "undisturbed" / name).read_bytes()


def test_two_downloads_at_once_ask_for_each_ticker_once_and_agree(
    fake_yahoo: FakeYahoo, data_config: Callable[..., DataConfig], tmp_path: Path
) -> None:
    days = weekdays("2020-01-01", 60)
    fake_yahoo.charts = {ticker: walk(days) for ticker in TICKERS[:12]}
    config = data_config(
        source="yahoo", tickers=TICKERS[:12], start=days[0], end=datetime.date(2020, 6, 1), min_bars=20
    )
    both = [start(config, fake_yahoo.port, tmp_path / "store", tmp_path / name) for name in ("one", "two")]
    for process in both:
        process.join()
        assert process.exitcode == 0
    assert len(fake_yahoo.asked_for_bars()) == 12
    assert (tmp_path / "one/bars.parquet").read_bytes() == (tmp_path / "two/bars.parquet").read_bytes()
