from pathlib import Path

import pytest
from training import article_errors, pitfalls
from training.pitfalls_page import build

from candlecast.report.document import text

PAGE = Path(__file__).parents[2] / "experiments" / "002-pitfalls.md"


def test_the_page_says_what_is_measured() -> None:
    assert text(build(), lambda drawing: drawing.name) == PAGE.read_text(), (
        "bring it up to date: make pitfalls"
    )


def test_the_right_norms_gradient_is_the_large_batchs_at_every_micro_batch() -> None:
    assert max(pitfalls.batch_norm("layer").values()) < 1e-14
    assert min(pitfalls.batch_norm("batch").values()) > 0.01


def test_only_forward_and_backward_inside_no_sync_reduce_once() -> None:
    assert pitfalls.all_reduces() == {"every": 8, "backward": 8, "both": 1}


def test_without_division_the_gradient_is_k_times_as_large() -> None:
    assert pitfalls.no_division().gradient_ratio == pytest.approx(pitfalls.STEPS)


def test_an_epoch_shorter_than_the_steps_never_updates_in_the_articles_loop() -> None:
    assert article_errors.tail().updates == {3: 0, 7: 2, 8: 4}
