from xml.etree import ElementTree

import numpy as np
import polars as pl
import pytest

from candlecast.evaluation.evaluate import select
from candlecast.report import curves


@pytest.fixture
def frames(inputs):
    return [select(inputs.forecasts, name, "test") for name in ("candlecast", "ridge_logistic")]


def test_curves_are_well_formed_named_and_repeatable(inputs, frames):
    economics = inputs.assessment.economics
    makers = (
        lambda: curves.rolling_accuracy(*frames),
        lambda: curves.capital_curves(economics, 10.0),
        lambda: curves.noise_scale(inputs.history),
    )
    for make in makers:
        drawing = make()
        assert ElementTree.fromstring(drawing.svg).get("aria-label") == drawing.alt
        assert drawing == make()


def test_the_words_of_the_capital_are_its_ends(inputs):
    economics = inputs.assessment.economics
    first = economics.paths[0]
    alt = curves.capital_curves(economics, 20.0).alt
    assert f"long/short before costs {np.prod(1 + first.gross):.2f}" in alt
    assert f"long/short at 20 bp {np.prod(1 + first.net(20.0)):.2f}" in alt


def test_the_rolling_accuracy_covers_a_quarter(inputs, frames):
    daily = (
        frames[0]
        .group_by("date", maintain_order=True)
        .agg(((pl.col("realised_return") > 0) == (pl.col("probability_up") > 0.5)).mean().alias("hits"))[
            "hits"
        ]
        .to_numpy()
    )
    means = [daily[start : start + 63].mean() for start in range(len(daily) - 62)]
    assert f"Candlecast between {min(means):.0%} and {max(means):.0%}" in curves.rolling_accuracy(*frames).alt


def test_a_short_span_is_averaged_over_a_third_of_it(frames):
    short = [frame.filter(pl.col("date") < pl.date(2011, 4, 1)) for frame in frames]
    assert "over 7 days at a time" in curves.rolling_accuracy(*short).alt


def test_noise_that_was_never_measured_is_not_drawn(inputs):
    assert curves.noise_scale(inputs.history.drop("noise_scale")) is None
    nothing = inputs.history.with_columns(noise_scale=pl.lit(None, dtype=pl.Float64))
    assert curves.noise_scale(nothing) is None
