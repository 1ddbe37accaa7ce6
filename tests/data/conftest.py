import datetime
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from data.fake_yahoo import FakeYahoo, LoopbackSession
from data.files_by_hand import read

from candlecast.data.config import DataConfig, SyntheticConfig, YahooConfig
from candlecast.data.source import Fetched
from candlecast.data.yahoo import YahooSource
from candlecast.errors import CandlecastError
from candlecast.params import load_params

PARAMS = Path(__file__).parents[2] / "params.yaml"


@pytest.fixture(scope="session")
def data_config() -> Callable[..., DataConfig]:
    """Build a `DataConfig` that differs from the committed parameters in the named keys.

    A key of a part is written with two underscores: `checks__price_order="flag"`.
    """
    committed = load_params("data", DataConfig, PARAMS)
    small = replace(committed, synthetic=SyntheticConfig(tickers=3, bars=700, signal=0.0, seed=1))

    def build(**changes: Any) -> DataConfig:
        whole: dict[str, Any] = {}
        for key, value in changes.items():
            part, _, name = key.partition("__")
            whole[part] = replace(whole.get(part, getattr(small, part)), **{name: value}) if name else value
        return replace(small, **whole)

    return build


@pytest.fixture
def fake_yahoo() -> Iterator[FakeYahoo]:
    server = FakeYahoo()
    yield server
    server.close()


@pytest.fixture
def yahoo(fake_yahoo: FakeYahoo) -> Callable[..., YahooSource]:
    """Build the real source, connected to the fake server; its pauses are collected, not slept."""

    def build(
        attempts: int = 3,
        timeout: float = 5.0,
        now: str = "2026-01-05T12:00:00+00:00",
        pauses: list[float] | None = None,
    ) -> YahooSource:
        collected = [] if pauses is None else pauses
        return YahooSource(
            YahooConfig(requests_per_minute=50, attempts=attempts, timeout=timeout),
            LoopbackSession(fake_yahoo.port, timeout=timeout),
            now=lambda: datetime.datetime.fromisoformat(now),
            sleep=collected.append,
        )

    return build


@pytest.fixture
def reads(tmp_path: Path) -> Callable[..., Fetched]:
    """Write a text to AAA.csv and read it with the given keys of `data.files`."""

    def run(text: str | bytes, name: str = "AAA.csv", **keys: Any) -> Fetched:
        content = text.encode() if isinstance(text, str) else text
        (tmp_path / name).write_bytes(content)
        return read(tmp_path, **keys)

    return run


@pytest.fixture
def refuses(reads: Callable[..., Fetched]) -> Callable[..., str]:
    """Return the one line with which a text is refused."""

    def run(text: str | bytes, **keys: Any) -> str:
        with pytest.raises(CandlecastError) as caught:
            reads(text, **keys)
        assert "\n" not in str(caught.value)
        return str(caught.value)

    return run
