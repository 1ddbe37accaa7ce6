import datetime

import numpy as np
import polars as pl
import pytest

from candlecast.evaluation.days import COLUMNS, daily_losses, parse_daily_losses, span_digest
from candlecast.evaluation.resampling import DayScores


def test_the_daily_losses_are_those_that_the_tests_use(make_forecasts):
    frame = make_forecasts(days=12, tickers=3, skill=0.2).sample(fraction=1, shuffle=True, seed=2)
    scored = DayScores(frame.sort("date", "ticker"), 0.0)
    losses = daily_losses(frame)
    assert losses["date"].equals(scored.dates)
    for name in COLUMNS:
        assert losses[name].to_numpy() == pytest.approx(scored.daily(name), abs=1e-15)


def test_what_was_written_is_read_back(make_forecasts):
    losses = daily_losses(make_forecasts(days=9))
    read = parse_daily_losses(losses.write_csv(float_precision=12), losses["date"])
    assert read is not None
    for name in COLUMNS:
        assert read[name] == pytest.approx(losses[name].to_numpy(), abs=1e-12)


@pytest.mark.parametrize(
    "spoil",
    [
        lambda text: "",
        lambda text: "date,squared\n2011-03-01,0.1\n",
        lambda text: text.replace("2011-03-04", "2011-03-05"),
        lambda text: "\n".join(text.splitlines()[:-1]),
        lambda text: text.replace("squared", "cubed"),
        lambda text: text + "2011-04-01,x,0,0\n",
        lambda text: "\n".join([*text.splitlines()[:-1], "2011-03-09,NaN,0.2,0.5"]),
        lambda text: "\n".join([*text.splitlines()[:-1], "2011-03-09,,0.2,0.5"]),
    ],
)
def test_other_days_or_a_broken_file_are_not_compared(make_forecasts, spoil):
    losses = daily_losses(make_forecasts(days=9))
    assert parse_daily_losses(spoil(losses.write_csv()), losses["date"]) is None


def test_the_digest_is_of_the_windows_and_their_outcomes_alone(make_forecasts):
    frame = make_forecasts(days=8, tickers=3)
    digest = span_digest(frame, 5)
    same = pl.concat([make_forecasts(days=8, tickers=3, seed=9), make_forecasts(model="ridge", seed=1)])
    assert span_digest(same.sample(fraction=1, shuffle=True, seed=1), 5) == digest
    rounded = frame.with_columns(realised_return=pl.col("realised_return") * (1 + 1e-15))
    assert span_digest(rounded, 5) == digest
    others = (
        (frame, 4),
        (frame.with_columns(pl.col("realised_return") + 1e-6), 5),
        (frame.with_columns(pl.col("date") + datetime.timedelta(1)), 5),
        (frame.filter(pl.col("ticker") != "T2"), 5),
        (frame.with_columns(pl.col("ticker").replace("T2", "T9")), 5),
    )
    digests = {span_digest(other, horizon) for other, horizon in others}
    assert len(digests) == 5
    assert digest not in digests


def test_zero_has_no_sign_in_the_digest(make_forecasts):
    frame = make_forecasts(days=8)
    plus, minus = (frame.with_columns(realised_return=pl.lit(zero)) for zero in (0.0, -0.0))
    assert np.signbit(minus["realised_return"].to_numpy()).all()
    assert span_digest(plus, 1) == span_digest(minus, 1)
