import io
import re
from dataclasses import replace

from tracking.records import plan, update
from training.small import CONFIG, recipe, small

from candlecast.training.loop import train
from candlecast.training.progress import Progress
from candlecast.windows.dataset import WindowDataset
from candlecast.windows.store import WindowStore


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def show(store: WindowStore, stream: io.StringIO, **changes: object) -> str:
    sets = WindowDataset(store, "train"), WindowDataset(store, "validation")
    train(small(), *sets, recipe(replace(CONFIG, **changes)), [Progress(stream)])
    return stream.getvalue()


def test_without_a_terminal_it_writes_plain_lines(store: WindowStore) -> None:
    text = show(store, io.StringIO())
    lines = text.splitlines()
    assert "\r" not in text
    assert "\x1b" not in text
    assert "4 x 3 = 12 windows an update, fp32 on cpu" in lines[0]
    assert any("loss" in line and "lr" in line and "windows/s" in line and "left" in line for line in lines)
    assert any(line.startswith("validation at update") for line in lines)
    assert lines[-1].startswith("training finished: ")


def test_a_long_training_does_not_flood_a_log_file(store: WindowStore) -> None:
    text = show(store, io.StringIO(), epochs=40, log_every=1, validate_every=10**6)
    assert 20 <= len([line for line in text.splitlines() if line.startswith("update")]) <= 25


def test_on_a_terminal_a_bar_carries_loss_rate_speed_and_time_left(store: WindowStore) -> None:
    text = show(store, Terminal(), log_every=1)
    assert "loss" in text
    assert "lr" in text
    assert "windows/s" in text
    assert "<" in text  # tqdm's elapsed<left
    assert "100%" in text


def test_the_time_left_does_not_jump_with_the_speed_of_the_moment() -> None:
    """Every second line is four times as slow, as when a validation falls into it: 1 s, 4 s, 1 s, ..."""
    stream, seconds = io.StringIO(), 0.0
    progress = Progress(stream)
    progress.on_start(plan(total_samples=2000, total_updates=100))
    for line in range(1, 21):
        spent = 4.0 if line % 2 == 0 else 1.0
        seconds += spent
        speed = 100 / spent  # since the line before
        progress.on_updates([update(5 * line, seconds=seconds, windows_per_second=speed)])
    left = [60 * int(m) + int(s) for m, s in re.findall(r"(\d+):(\d\d) left", stream.getvalue())]
    truth = [2.5 * (20 - line) for line in range(1, 21)]
    assert len(left) == 20
    assert all(abs(shown - true) <= 0.2 * true + 1 for shown, true in zip(left[4:], truth[4:], strict=True))


def test_a_resumed_training_counts_only_its_own_time() -> None:
    stream = io.StringIO()
    progress = Progress(stream)
    earlier = update(50, seconds=1000.0)
    progress.on_start(
        plan(resumed_update=50, resumed_samples=1000, earlier_updates=(earlier,), total_samples=2000)
    )
    progress.on_updates([update(55, seconds=1010.0)])  # 100 windows in 10 s, 900 are left
    assert ", 1:30 left" in stream.getvalue()


def test_a_budget_in_seconds_has_no_time_left_to_show(store: WindowStore) -> None:
    text = show(store, io.StringIO(), epochs=None, seconds=0.05)
    assert "left" not in text
    assert "training finished" in text
