import re

import numpy as np
import pytest

from candlecast.evaluation.bootstrap import Interval
from candlecast.report.comparison_figures import (
    Averaged,
    Axis,
    Gap,
    averaging,
    forest,
    meet,
    seed_bands,
    sensitivity,
)
from candlecast.report.drawing import Drawing, standalone

SEEN = np.array([100.0, 200.0, 300.0])
AXIS = Axis(name="by-windows", label="windows seen")


def texts(drawing: Drawing) -> list[str]:
    return re.findall(r"<text[^>]*>([^<]*)</text>", drawing.svg)


def test_curves_of_the_same_places_are_met_where_they_are() -> None:
    place, lines = meet([(SEEN, SEEN / 100), (SEEN, SEEN / 50)])
    assert place.tolist() == SEEN.tolist()
    assert lines.tolist() == [[1, 2, 3], [2, 4, 6]]


def test_curves_of_other_places_are_met_on_what_both_reach() -> None:
    place, lines = meet([(SEEN, SEEN), (np.array([150.0, 250.0]), np.array([15.0, 25.0]))])
    assert (place[0], place[-1]) == (150, 250)
    assert lines[0] == pytest.approx(place)
    assert lines[1] == pytest.approx(place / 10)


def test_each_arm_says_where_it_ends_and_its_lowest_in_words() -> None:
    curves = {"small": [(SEEN, np.array([3.0, 1.0, 2.0])), (SEEN, np.array([3.0, 2.0, 4.0]))]}
    drawing = seed_bands(curves, AXIS, "validation loss", "A band.")
    assert drawing.alt == (
        "validation loss against windows seen, mean over seeds: small 3.0000 at 300, lowest 1.5000"
    )
    assert {"small", "windows seen", "validation loss"} <= set(texts(drawing))


def test_a_training_that_diverged_does_not_flatten_the_others() -> None:
    tried = {"small": [(1e-4, 0.7), (1e-3, 0.6), (1e-2, 1e6)] * 3, "large": [(1e-4, 0.8), (1e-3, 0.65)] * 20}
    drawing = sensitivity(tried, {"small": 1e-3, "large": 1e-3}, "train.peak_lr", "lowest loss")
    heights = [float(text) for text in texts(drawing) if re.fullmatch(r"\d\.\d+", text)]
    assert len(heights) >= 3
    assert max(heights) < 2
    assert "small lowest at 0.001 with 0.6000" in drawing.alt


def test_a_contrast_says_its_mean_and_interval_in_words() -> None:
    gaps = [
        Gap(name="a \u2212 b", differences=[-0.01, 0.03], mean=0.01, interval=Interval(-0.2, 0.22)),
        Gap(name="c \u2212 b", differences=[0.5], mean=0.5, interval=None),
    ]
    drawing = forest(gaps, "difference of a loss", matters=0.1)
    assert drawing.alt.endswith("a \u2212 b +0.01, interval -0.2 to +0.22; c \u2212 b +0.5")
    assert "too small to matter" in drawing.caption
    assert "too small to matter" not in forest(gaps, "difference of a loss", matters=None).caption


def test_the_averaged_curve_says_how_many_windows_a_point_holds() -> None:
    raw = np.linspace(1, 100, 100), np.random.default_rng(0).normal(1, 0.3, 100)
    coarse = SEEN, np.array([1.0, 1.1, 0.9])
    drawing = averaging(
        Averaged(few="16 x 1", many="16 x 8", raw=raw, averaged=coarse, whole=coarse, windows=128)
    )
    assert "averaged over 128 windows" in drawing.alt
    assert "16 x 1, over 128 windows" in texts(drawing)


def test_a_figure_as_a_file_has_colours_of_its_own() -> None:
    drawing = forest([Gap(name="a", differences=[1.0], mean=1.0, interval=None)], "x", None)
    assert standalone(drawing).count("--model:") == 1
