import datetime
import itertools
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from data.fake_yahoo import Chart, FakeYahoo, LoopbackSession
from forecasting.made import Made
from forecasting.made_bars import made_bars
from parameters import ROOT

from candlecast.data.config import DataConfig, YahooConfig
from candlecast.data.sources import make_source
from candlecast.data.yahoo import YahooSource
from candlecast.errors import DataError, UnknownTickerError
from candlecast.forecasting.latest import Prediction, predict, sessions_since
from candlecast.params import load_params
from candlecast.report.prediction import prediction_json, prediction_text

NEXT_DAY = datetime.date(2021, 1, 2)  # a Saturday; the made bars end on Friday


@pytest.fixture
def config() -> DataConfig:
    committed = load_params("data", DataConfig, ROOT / "params.yaml")
    return replace(committed, tickers=(), start=datetime.date(2020, 1, 1), end=datetime.date(2020, 12, 1))


@pytest.fixture
def from_file(tmp_path: Path, made: Made, config: DataConfig) -> Callable[..., Prediction]:
    """Forecast from a CSV file of these bars, as --bars does."""

    def run(
        bars: pl.DataFrame = made.bars,
        tickers: tuple[str, ...] = (),
        today: datetime.date = NEXT_DAY,
        calendar: str | None = None,
    ) -> Prediction:
        bars.drop("segment").write_csv(tmp_path / "bars.csv")
        own = replace(config, source="files", path=str(tmp_path / "bars.csv"), calendar=calendar)
        return predict(made.forecaster, make_source(own), own, tickers, today)

    return run


def test_a_file_s_newest_bars_give_what_the_evaluation_gives_on_that_date(
    from_file: Callable[..., Prediction], made: Made
) -> None:
    prediction = from_file()
    expected = made.forecaster.latest(made.bars)
    assert prediction.forecasts["date"].unique().to_list() == [made.bars["date"].max()]
    for name in ("forecast_return", "probability_up"):
        assert (prediction.forecasts[name] - expected[name]).abs().max() < 1e-6, name  # type: ignore[operator]
    assert prediction.warnings == ()


def test_only_the_tickers_asked_for_are_forecast(from_file: Callable[..., Prediction]) -> None:
    assert from_file(tickers=("CCC", "AAA")).forecasts["ticker"].to_list() == ["AAA", "CCC"]


def test_a_ticker_the_file_lacks_is_named(from_file: Callable[..., Prediction]) -> None:
    with pytest.raises(UnknownTickerError, match="ZZZ"):
        from_file(tickers=("AAA", "ZZZ"))


def test_a_ticker_with_too_few_bars_is_a_warning_and_the_others_are_forecast(
    from_file: Callable[..., Prediction], made: Made
) -> None:
    first = made.bars["date"].unique().sort()[200]
    short = made.bars.filter((pl.col("ticker") != "BBB") | (pl.col("date") >= first))
    prediction = from_file(short)
    assert prediction.forecasts["ticker"].to_list() == ["AAA", "CCC"]
    needed = made.forecaster.bars_needed
    assert prediction.warnings == (f"BBB: no forecast, 60 bars without a gap where one needs {needed}",)


def test_where_no_ticker_has_enough_bars_it_is_an_error(from_file: Callable[..., Prediction]) -> None:
    with pytest.raises(DataError, match="no history is left"):
        from_file(made_bars(["AAA"], 50))


def test_a_ticker_that_was_not_in_the_training_is_said_to_be_new(
    from_file: Callable[..., Prediction],
) -> None:
    warnings = from_file(made_bars(["AAA", "NEW"], 260)).warnings
    assert warnings == ("NEW: not among the tickers the model was trained on, AAA, BBB, CCC",)


@pytest.mark.parametrize(
    ("last", "today", "calendar", "sessions"),
    [
        ("2021-01-01", "2021-01-02", None, 0),
        ("2021-01-01", "2021-01-05", None, 1),  # Monday is over
        ("2021-01-01", "2021-01-11", None, 5),
        ("2020-12-31", "2021-01-04", "XNYS", 0),  # New Year's Day and a weekend
        ("2020-12-31", "2021-01-06", "XNYS", 2),
        ("2021-01-05", "2021-01-04", None, 0),
    ],
)
def test_sessions_are_counted_by_the_calendar_and_weekdays_without_one(
    last: str, today: str, calendar: str | None, sessions: int
) -> None:
    day = datetime.date.fromisoformat
    assert sessions_since(day(last), day(today), calendar) == sessions


def test_bars_that_are_old_are_said_to_be(from_file: Callable[..., Prediction], made: Made) -> None:
    later = datetime.date(2021, 1, 8)  # the Friday after
    last = made.bars["date"].max()
    assert from_file(today=later).warnings == (
        f"AAA, BBB, CCC: the last bar is of {last}, 4 weekdays before {later}; the forecast is of the days "
        f"after it, not of those to come",
    )
    assert from_file(today=datetime.date(2021, 1, 5)).warnings == ()  # may have been a holiday
    by_calendar = from_file(today=datetime.date(2021, 1, 5), calendar="XNYS").warnings
    assert "1 session of XNYS before 2021-01-05" in by_calendar[0]


def test_the_bars_may_come_from_yahoo(made: Made, config: DataConfig, tmp_path: Path) -> None:
    fake = FakeYahoo()
    try:
        for ticker in ("AAA", "BBB"):
            rows = made.bars.filter(pl.col("ticker") == ticker)
            names = ("date", "open", "high", "low", "close", "close", "volume")
            fake.charts[ticker] = Chart(rows=[*zip(*(rows[name] for name in names), strict=True)])
        source = YahooSource(
            YahooConfig(requests_per_minute=50, attempts=1, timeout=5.0),
            LoopbackSession(fake.port),
            now=lambda: datetime.datetime(2021, 1, 2, 12, tzinfo=datetime.UTC),
            sleep=lambda _: None,
        )
        own = replace(config, source="yahoo", tickers=("CCC",))
        prediction = predict(made.forecaster, source, own, ("AAA", "BBB"), NEXT_DAY)
    finally:
        fake.close()
    expected = made.forecaster.latest(made.bars).head(2)
    assert prediction.forecasts["ticker"].to_list() == ["AAA", "BBB"]
    assert (prediction.forecasts["forecast_return"] - expected["forecast_return"]).abs().max() < 1e-6  # type: ignore[operator]
    assert prediction.source == "yahoo"


def test_a_synthetic_market_is_the_one_of_its_own_dates_whatever_the_day(
    made: Made, config: DataConfig
) -> None:
    own = replace(config, source="synthetic", synthetic=replace(config.synthetic, tickers=3, bars=260))
    prediction = predict(made.forecaster, make_source(own), own, ("SYN001",), datetime.date(2030, 1, 1))
    assert prediction.forecasts.select("ticker", "date").rows() == [("SYN001", own.end)]
    with pytest.raises(UnknownTickerError, match="synthetic has no SYN009"):
        predict(made.forecaster, make_source(own), own, ("SYN009",), datetime.date(2030, 1, 1))


def test_the_text_shows_forecasts_age_evidence_and_that_it_is_no_advice(
    from_file: Callable[..., Prediction],
) -> None:
    prediction = from_file(today=datetime.date(2022, 1, 1))
    text = prediction_text(prediction)
    value = prediction.forecasts.row(1)
    line = next(each for each in text.splitlines() if each.strip().startswith("BBB"))
    assert line.split() == [
        "BBB",
        str(value[1]),
        f"{pl.select(pl.lit(value[2]).exp()).item() - 1:+.2%}",
        f"{value[3]:.1%}",
    ]
    assert "Over the next 3 bars, from files:" in text
    assert "chosen on windows to 2020-10-" in text or "chosen on windows to 2020-11-" in text
    assert "No skill beyond the baselines" in text
    assert "Directional accuracy 54.1% (95% interval 47.5% to 60.9%)" in text
    assert "Warning: AAA, BBB, CCC: the last bar is of 2021-01-01" in text
    assert text.endswith("Research software, not investment advice.\n")


def test_the_json_holds_the_same(from_file: Callable[..., Prediction]) -> None:
    prediction = from_file(today=datetime.date(2022, 1, 1))
    record = json.loads(prediction_json(prediction))
    rows = [tuple(row.values()) for row in record["forecasts"]]
    expected = [(a, str(b), c, d) for a, b, c, d in prediction.forecasts.iter_rows()]
    assert rows == expected
    assert record["horizon"] == 3
    assert record["model"]["evidence"]["skills"] == []
    assert record["model"]["evidence"]["scores"][0]["low"] == 0.475
    assert record["warnings"] == list(prediction.warnings)
    assert "not investment advice" in record["notice"]
    assert len({*itertools.chain(rows)}) == 3
