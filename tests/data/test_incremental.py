import datetime
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from data.fake_yahoo import BROKEN, FakeYahoo, walk, weekdays

from candlecast.data.incremental import IncrementalSource
from candlecast.data.store import BarStore
from candlecast.data.yahoo import YahooSource
from candlecast.errors import UnknownTickerError, UnreachableError

DAYS = weekdays("2020-01-01", 120)
START = datetime.date(2020, 1, 6)
Open = Callable[[str], IncrementalSource]


@pytest.fixture
def on_day(yahoo: Callable[..., YahooSource], tmp_path: Path) -> Open:
    """Open the source as on a given day, at noon UTC, always with the same memory."""

    def build(day: str) -> IncrementalSource:
        source = yahoo(attempts=2, now=f"{day}T12:00:00+00:00")
        return IncrementalSource(
            source, BarStore(tmp_path / "store"), lambda: datetime.date.fromisoformat(day)
        )

    return build


@pytest.fixture(autouse=True)
def _ordinary_share(fake_yahoo: FakeYahoo) -> None:
    fake_yahoo.charts["AAA"] = walk(DAYS)


def spans(fake_yahoo: FakeYahoo) -> list[str]:
    """The first day of each span of bars asked for since the last look."""
    asked = [query["period1"] for query in fake_yahoo.asked_for_bars()]
    fake_yahoo.requests.clear()
    return [str(datetime.datetime.fromtimestamp(int(stamp), datetime.UTC).date()) for stamp in asked]


def test_what_was_fetched_whole_is_not_asked_for_again(on_day: Open, fake_yahoo: FakeYahoo) -> None:
    first = on_day("2020-09-01").fetch("AAA", START, datetime.date(2020, 5, 1))
    assert spans(fake_yahoo) == ["2020-01-06"]
    again = on_day("2021-09-01").fetch("AAA", START, datetime.date(2020, 5, 1))
    part = on_day("2021-09-01").fetch("AAA", datetime.date(2020, 2, 3), datetime.date(2020, 4, 1))
    assert spans(fake_yahoo) == []
    assert again.bars.equals(first.bars)
    assert (str(part.bars["date"][0]), str(part.bars["date"][-1])) == ("2020-02-03", "2020-04-01")


def test_a_later_end_asks_for_the_new_days_and_ten_settled_ones(on_day: Open, fake_yahoo: FakeYahoo) -> None:
    on_day("2020-09-01").fetch("AAA", START, datetime.date(2020, 5, 1))
    spans(fake_yahoo)
    longer = on_day("2020-09-01").fetch("AAA", START, datetime.date(2020, 5, 29))
    assert spans(fake_yahoo) == ["2020-04-20"]
    assert longer.revision is None
    expected = [row for row in fake_yahoo.charts["AAA"].rows if START <= row[0] <= datetime.date(2020, 5, 29)]
    assert longer.bars.rows() == expected


def test_provisional_bars_are_asked_for_again_once_on_a_later_day(
    on_day: Open, fake_yahoo: FakeYahoo
) -> None:
    end = datetime.date(2020, 5, 29)
    first = on_day("2020-05-29").fetch("AAA", START, end)  # a Friday; that day's bar is not finished
    assert [str(day) for day in first.provisional] == ["2020-05-27", "2020-05-28"]
    fake_yahoo.charts["AAA"].rows[106] = (*fake_yahoo.charts["AAA"].rows[106][:6], 999_999)
    assert fake_yahoo.charts["AAA"].rows[106][0] == datetime.date(2020, 5, 28)
    spans(fake_yahoo)
    on_day("2020-05-29").fetch("AAA", START, end)
    assert spans(fake_yahoo) == []
    later = on_day("2020-06-03").fetch("AAA", START, end)
    assert spans(fake_yahoo) == ["2020-05-13"]
    assert later.provisional == ()
    assert later.bars.filter(pl.col("date") == datetime.date(2020, 5, 28))["volume"].item() == 999_999
    assert later.bars["date"][-1] == end


def test_an_earlier_start_fetches_the_whole(on_day: Open, fake_yahoo: FakeYahoo) -> None:
    on_day("2020-09-01").fetch("AAA", datetime.date(2020, 3, 2), datetime.date(2020, 5, 1))
    spans(fake_yahoo)
    fetched = on_day("2020-09-01").fetch("AAA", START, datetime.date(2020, 4, 1))
    assert spans(fake_yahoo) == ["2020-01-06"]
    assert fetched.bars["date"][0] == START


def test_a_split_since_then_is_noticed_fetched_whole_and_reported(
    on_day: Open, fake_yahoo: FakeYahoo
) -> None:
    on_day("2020-09-01").fetch("AAA", START, datetime.date(2020, 5, 1))
    chart = fake_yahoo.charts["AAA"]
    chart.rows = [(row[0], *(value / 4 for value in row[1:6]), 4 * row[6]) for row in chart.rows]
    spans(fake_yahoo)
    fetched = on_day("2020-09-01").fetch("AAA", START, datetime.date(2020, 5, 29))
    assert spans(fake_yahoo) == ["2020-04-20", "2020-01-06"]
    revision = fetched.revision
    assert revision is not None
    assert (revision.rows_changed, revision.suspected_split) == (85, 4)
    assert revision.largest_change == pytest.approx(0.75)
    assert "largest change 75.00%, as after a split of 4" in str(revision)
    closes = {row[0]: row[4] for row in chart.rows}
    assert all(closes[date] == close for date, close in fetched.bars.select("date", "close").iter_rows())
    again = on_day("2020-09-01").fetch("AAA", START, datetime.date(2020, 5, 29))
    assert again.revision is None  # said once


def test_a_dividend_since_then_rescales_the_adjusted_past(on_day: Open, fake_yahoo: FakeYahoo) -> None:
    on_day("2020-09-01").fetch("AAA", START, datetime.date(2020, 5, 1))
    chart = fake_yahoo.charts["AAA"]
    chart.rows = [
        (*row[:5], row[5] * (0.99 if row[0] < datetime.date(2020, 5, 11) else 1), row[6])
        for row in chart.rows
    ]
    revision = on_day("2020-09-01").fetch("AAA", START, datetime.date(2020, 5, 29)).revision
    assert revision is not None
    assert revision.suspected_split is None
    assert revision.largest_change == pytest.approx(0.01)


def test_noise_in_the_seventh_digit_is_no_revision(on_day: Open, fake_yahoo: FakeYahoo) -> None:
    on_day("2020-09-01").fetch("AAA", START, datetime.date(2020, 5, 1))
    chart = fake_yahoo.charts["AAA"]
    chart.rows = [(*row[:4], row[4] * (1 + 3e-7), *row[5:]) for row in chart.rows]
    assert on_day("2020-09-01").fetch("AAA", START, datetime.date(2020, 5, 29)).revision is None


def test_trouble_later_leaves_what_was_kept(on_day: Open, fake_yahoo: FakeYahoo, tmp_path: Path) -> None:
    on_day("2020-09-01").fetch("AAA", START, datetime.date(2020, 5, 1))
    kept = (tmp_path / "store" / "AAA.parquet").read_bytes()
    fake_yahoo.faults["AAA"] = iter([BROKEN] * 4)
    with pytest.raises(UnreachableError):
        on_day("2020-09-01").fetch("AAA", START, datetime.date(2020, 5, 29))
    del fake_yahoo.charts["AAA"]
    with pytest.raises(UnknownTickerError):
        on_day("2020-09-01").fetch("AAA", START, datetime.date(2020, 5, 29))
    assert (tmp_path / "store" / "AAA.parquet").read_bytes() == kept


def test_a_short_new_listing_is_simply_fetched_again(on_day: Open, fake_yahoo: FakeYahoo) -> None:
    fake_yahoo.charts["NEW"] = walk(DAYS[80:])
    end = datetime.date(2020, 5, 1)
    assert on_day("2020-09-01").fetch("NEW", START, end).bars.height == 8
    assert on_day("2020-09-01").fetch("NEW", START, datetime.date(2020, 5, 29)).bars.height == 28


def test_ctrl_c_loses_nothing_that_was_fetched_and_leaves_no_half_file(
    on_day: Open, fake_yahoo: FakeYahoo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_yahoo.charts["BBB"] = walk(DAYS)
    on_day("2020-09-01").fetch("AAA", START, datetime.date(2020, 5, 1))

    def interrupted(self: pl.DataFrame, file: Path, **options: object) -> None:
        file.write_bytes(b"PAR1 half")
        raise KeyboardInterrupt

    monkeypatch.setattr(pl.DataFrame, "write_parquet", interrupted)
    with pytest.raises(KeyboardInterrupt):
        on_day("2020-09-01").fetch("BBB", START, datetime.date(2020, 5, 1))
    assert [file.name for file in (tmp_path / "store").glob("*.parquet*")] == ["AAA.parquet"]
