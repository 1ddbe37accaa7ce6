import math

import polars as pl
import pytest

from candlecast.report.noise import CAVEAT, effective_batch, noise_sentences
from candlecast.report.page import render


def history(scale: float | None, low: float | None, high: float | None, batch: int = 128) -> pl.DataFrame:
    """Five updates, the last one short as at the end of an epoch; measured at the third."""
    columns = {"noise_scale": scale, "noise_low": low, "noise_high": high}
    seen = [batch, 2 * batch, 3 * batch, 4 * batch, 4 * batch + 7]
    return pl.DataFrame(
        {"samples_seen": seen}
        | {
            name: pl.Series([None, None, value, None, None], dtype=pl.Float64)
            for name, value in columns.items()
        }
    )


def test_the_effective_batch_is_not_that_of_a_short_last_update() -> None:
    assert effective_batch(history(None, None, None)) == 128


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [
        (300.0, 900.0, "used 128, below all of that: a larger effective batch"),
        (100.0, 900.0, "used 128, inside that"),
        (20.0, 80.0, "used 128, above all of that: a smaller effective batch"),
    ],
)
def test_it_says_what_to_take_how_sure_it_is_and_where_the_training_stood(
    low: float, high: float, verdict: str
) -> None:
    text = " ".join(noise_sentences(history(423.0, low, high)))
    assert "suggests an effective batch of about 420 windows" in text
    assert f"between {low:g} and {high:g} windows in 9 cases of 10, a factor of {high / low:.1f}" in text
    assert verdict in text
    assert CAVEAT in text


def test_without_an_upper_bound_it_says_so() -> None:
    text = " ".join(noise_sentences(history(423.0, 50.0, math.inf)))
    assert "above 50 windows in 9 cases of 10 and has no upper bound" in text
    assert "inside that" in text


def test_a_gradient_without_a_visible_signal_suggests_no_batch() -> None:
    text = " ".join(noise_sentences(history(None, 200.0, math.inf)))
    assert "noise-dominated" in text
    assert "above 200 windows" in text
    assert "suggests an effective batch" not in text


def test_what_was_never_measured_is_not_spoken_of() -> None:
    assert noise_sentences(history(None, None, None)) == []
    assert noise_sentences(pl.DataFrame({"samples_seen": [128]})) == []


def test_the_page_says_it(inputs) -> None:
    page = render(inputs)
    for sentence in noise_sentences(inputs.history):
        assert sentence in page
