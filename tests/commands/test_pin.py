import datetime
from collections.abc import Callable
from pathlib import Path

import pytest
from data.fake_yahoo import FakeYahoo, walk, weekdays
from data.files_by_hand import PARAMS

from candlecast.cli import main
from candlecast.commands.pin import latest_complete_session, pin_end, with_end
from candlecast.data.config import DataConfig
from candlecast.data.yahoo import YahooSource
from candlecast.errors import DataError
from candlecast.params import load_params

TODAY = datetime.date(2026, 1, 7)  # a Wednesday
DAYS = weekdays("2025-12-01", 28)  # to 2026-01-07


def test_only_the_one_value_of_the_file_changes() -> None:
    text = PARAMS.read_text()
    changed = with_end(text, datetime.date(2012, 6, 29))
    differing = [
        (old, new) for old, new in zip(text.splitlines(), changed.splitlines(), strict=True) if old != new
    ]
    ((old, new),) = differing
    assert new == old.replace("2013-03-01", "2012-06-29")


@pytest.mark.parametrize(
    "written", ["end: 2013-03-01", "end: '2013-03-01'   # pinned", 'end:   "2013-03-01"']
)
def test_a_quoted_date_is_replaced_too(written: str) -> None:
    changed = with_end(f"seed: 1\ndata:\n  {written}\n", datetime.date(2012, 6, 29))
    assert "2012-06-29" in changed
    assert "2013" not in changed
    assert ("# pinned" in written) == ("# pinned" in changed)


def test_the_bundled_data_pins_its_last_bar(tmp_path: Path) -> None:
    params = tmp_path / "params.yaml"
    params.write_text(PARAMS.read_text().replace("2013-03-01", "2010-01-01"))
    assert pin_end(params) == datetime.date(2013, 3, 1)
    assert load_params("data", DataConfig, params).end == datetime.date(2013, 3, 1)


def test_the_command_says_what_it_has_pinned(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    params = tmp_path / "params.yaml"
    params.write_text(PARAMS.read_text().replace("2013-03-01", "2010-01-01"))
    main(["pin-end", "--params", str(params)])
    assert "data.end is 2013-03-01" in capsys.readouterr().out


def test_todays_and_incomplete_bars_are_not_pinned(
    yahoo: Callable[..., YahooSource], fake_yahoo: FakeYahoo, data_config: Callable[..., DataConfig]
) -> None:
    source = yahoo(now="2026-01-07T20:00:00+00:00")
    config = data_config(source="yahoo", tickers=("AAA", "BBB", "CCC", "GONE"))
    fake_yahoo.charts |= {name: walk(DAYS) for name in ("AAA", "BBB", "CCC")}
    assert latest_complete_session(config, source, TODAY) == datetime.date(2026, 1, 6)
    for name in ("AAA", "BBB"):
        chart = fake_yahoo.charts[name]
        chart.rows[-2] = (chart.rows[-2][0], None, None, None, None, None, 123)
    fake_yahoo.charts["CCC"].rows = fake_yahoo.charts["CCC"].rows[:-1]
    assert latest_complete_session(config, source, TODAY) == datetime.date(2026, 1, 5)


def test_at_most_five_of_many_tickers_are_asked(
    yahoo: Callable[..., YahooSource], fake_yahoo: FakeYahoo, data_config: Callable[..., DataConfig]
) -> None:
    names = tuple(f"P{number:03d}" for number in range(101))
    fake_yahoo.charts = dict.fromkeys(names, walk(DAYS))
    latest_complete_session(data_config(source="yahoo", tickers=names), yahoo(), TODAY)
    asked = {ticker for ticker, _ in fake_yahoo.requests}
    assert 3 <= len(asked) <= 5


def test_no_session_at_all_is_an_error(
    yahoo: Callable[..., YahooSource], data_config: Callable[..., DataConfig]
) -> None:
    with pytest.raises(DataError, match="none of GONE has a complete session since 2025-12-17"):
        latest_complete_session(data_config(source="yahoo", tickers=("GONE",)), yahoo(), TODAY)
