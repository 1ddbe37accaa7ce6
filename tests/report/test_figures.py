from xml.etree import ElementTree

import polars as pl
import pytest

from candlecast.evaluation.evaluate import select
from candlecast.report import figures


@pytest.fixture
def test_part(inputs) -> pl.DataFrame:
    return select(inputs.forecasts, "candlecast", "test")


def makers(inputs, frame):
    return {
        "split": lambda: figures.split_timeline(inputs.boundaries),
        "training": lambda: figures.training_curves(inputs.history, inputs.validation),
        "scatter": lambda: figures.predicted_and_realised(frame),
        "reliability": lambda: figures.reliability_diagram(frame, 7),
        "confusion": lambda: figures.confusion_matrix(frame),
        "accuracy-year": lambda: figures.accuracy_bars(frame, "year"),
        "accuracy-ticker": lambda: figures.accuracy_bars(frame, "ticker"),
    }


@pytest.mark.parametrize(
    "name", ["split", "training", "scatter", "reliability", "confusion", "accuracy-year", "accuracy-ticker"]
)
def test_a_figure_is_well_formed_named_and_repeatable(inputs, test_part, name):
    make = makers(inputs, test_part)[name]
    drawing = make()
    assert drawing.name == name
    assert ElementTree.fromstring(drawing.svg).get("aria-label") == drawing.alt
    assert len(drawing.alt) > 40
    assert drawing == make()


@pytest.mark.parametrize("name", ["scatter", "reliability", "confusion", "accuracy-year", "accuracy-ticker"])
def test_a_constant_forecast_can_be_drawn(inputs, test_part, name):
    constant = test_part.with_columns(forecast_return=pl.lit(0.001), probability_up=pl.lit(0.55))
    assert makers(inputs, constant)[name]().svg


def test_the_words_of_the_confusion_matrix_are_its_counts(inputs, test_part):
    few = test_part[:3].with_columns(
        realised_return=pl.Series([0.1, -0.1, 0.2]), probability_up=pl.Series([0.6, 0.7, 0.2])
    )
    alt = figures.confusion_matrix(few).alt
    assert "1 called up went down" in alt
    assert "0 called down went down" in alt


def test_a_large_universe_draws_a_sample_of_the_cloud(inputs, test_part):
    svg = figures.predicted_and_realised(test_part).svg
    assert test_part.height > figures.MAX_POINTS
    assert svg.count("<use") < figures.MAX_POINTS + 60
