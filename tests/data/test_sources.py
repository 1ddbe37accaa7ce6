import datetime
from collections.abc import Callable
from pathlib import Path

import pytest

from candlecast.data.config import DataConfig, UniverseConfig
from candlecast.data.sources import check_source, check_tickers, make_source, universe_of, universe_tickers
from candlecast.errors import DataError, ParamsError

Build = Callable[..., DataConfig]


def test_an_unknown_ticker_is_one_line_naming_the_key_the_ticker_and_what_there_is(
    data_config: Build,
) -> None:
    with pytest.raises(DataError) as caught:
        check_tickers(data_config(tickers=("AAPL", "NVDA")))
    assert str(caught.value) == "data.tickers: sample has no NVDA; it has AAPL, FB, GOOG, IBM, MSFT"


def test_known_tickers_pass_and_a_source_behind_a_network_is_not_asked(data_config: Build) -> None:
    check_tickers(data_config())
    check_tickers(data_config(source="yahoo", tickers=("ANYTHING",)))


@pytest.mark.parametrize("name", ["", "WALL"])
def test_an_unknown_or_empty_exchange_is_refused_before_any_stage(data_config: Build, name: str) -> None:
    with pytest.raises(DataError, match=rf"^data\.calendar: no exchange is called '{name}'; .*null"):
        check_source(data_config(calendar=name))


def test_a_known_exchange_passes_and_the_tickers_are_checked_too(data_config: Build) -> None:
    check_source(data_config(calendar="XNYS"))
    with pytest.raises(DataError, match="sample has no NVDA"):
        check_source(data_config(tickers=("NVDA",)))


def test_an_empty_list_means_all_that_the_source_offers(data_config: Build) -> None:
    config = data_config(tickers=())
    assert universe_tickers(config, make_source(config)) == ("AAPL", "FB", "GOOG", "IBM", "MSFT")


def test_yahoo_needs_its_tickers_named(data_config: Build) -> None:
    with pytest.raises(ParamsError, match=r"data\.tickers: empty; yahoo"):
        data_config(source="yahoo", tickers=())


def test_a_synthetic_market_makes_its_own_tickers(data_config: Build) -> None:
    config = data_config(source="synthetic")
    assert universe_tickers(config, make_source(config)) == ("SYN000", "SYN001", "SYN002")


def test_tickers_are_fetched_in_the_order_of_their_names(data_config: Build) -> None:
    config = data_config(tickers=("MSFT", "AAPL"))
    assert universe_tickers(config, make_source(config)) == ("AAPL", "MSFT")


def test_a_folder_offers_one_ticker_a_file(data_config: Build, tmp_path: Path) -> None:
    (tmp_path / "AAA.csv").write_text("date,open,high,low,close,volume\n2020-01-02,1,1,1,1,1\n")
    with pytest.raises(DataError, match=r"files has no BBB; it has AAA"):
        check_tickers(data_config(source="files", path=str(tmp_path), tickers=("AAA", "BBB")))


def test_yahoo_has_a_memory_where_there_is_a_folder_for_it(data_config: Build, tmp_path: Path) -> None:
    config = data_config(source="yahoo")
    remembering, forgetting = make_source(config, tmp_path), make_source(config)
    assert (type(remembering).__name__, type(forgetting).__name__) == ("IncrementalSource", "YahooSource")
    assert (remembering.name, remembering.tickers(), remembering.packages()) == ("yahoo", None, ("yfinance",))
    assert list(tmp_path.iterdir()) == [tmp_path / "yahoo"]


def test_a_universe_whose_date_is_unknown_says_so_in_a_sentence(data_config: Build) -> None:
    assert universe_of(data_config()).words.startswith(
        "five shares that a plotting package brings as sample data; the date on which this universe was "
        "chosen is not recorded; chosen after"
    )
    dated = data_config(universe=UniverseConfig(chosen="an index", as_of=datetime.date(1999, 12, 31)))
    assert universe_of(dated).words.startswith("an index; chosen as of 1999-12-31; chosen before")
