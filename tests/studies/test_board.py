import io

import pytest

from candlecast.studies.board import Board, span


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def board(stream: io.StringIO, clock: Clock, cell_seconds: float | None = None) -> Board:
    return Board(stream, total=9, done=2, jobs=2, cell_seconds=cell_seconds, clock=clock)


@pytest.mark.parametrize(("seconds", "said"), [(42, "42 s"), (100, "1 min 40 s"), (7260, "2 h 1 min")])
def test_a_length_of_time_is_said_as_a_person_says_it(seconds: float, said: str) -> None:
    assert span(seconds) == said


def test_into_a_file_goes_a_line_an_event_and_no_escape() -> None:
    stream, clock = io.StringIO(), Clock()
    shown = board(stream, clock)
    shown.see(["a", "b"], 5)
    shown.see(["b"], 5)
    shown.finish("a", 30.0)
    shown.fail("b", "error: no disk")
    assert stream.getvalue().splitlines() == [
        "done   a  30 s  (3 of 9 done, 1 running, 5 queued, 0 failed, about 1 min 30 s left)",
        "FAILED b: error: no disk  (3 of 9 done, 1 running, 5 queued, 1 failed)",
    ]


def test_a_terminal_shows_what_runs_and_for_how_long() -> None:
    stream, clock = Terminal(), Clock()
    shown = board(stream, clock)
    shown.see(["a"], 5)
    clock.now += 20
    shown.see(["a"], 5)
    assert "  running  a  20 s" in stream.getvalue().splitlines()
    assert "\x1b[2F" in stream.getvalue()  # the two lines before are drawn over


def test_the_time_left_counts_what_waits_and_what_has_begun_over_all_workers() -> None:
    clock = Clock()
    shown = board(io.StringIO(), clock, cell_seconds=40.0)
    shown.see(["a", "b"], 3)
    clock.now += 10
    shown.see(["a", "b"], 3)
    assert shown.left() == pytest.approx((3 * 40 + 2 * 30) / 2)


def test_before_any_cell_has_ended_the_time_left_is_not_guessed() -> None:
    shown = board(io.StringIO(), Clock())
    shown.see(["a"], 3)
    assert shown.left() is None
