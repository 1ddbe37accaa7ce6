import io
from dataclasses import replace

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


def test_a_budget_in_seconds_has_no_time_left_to_show(store: WindowStore) -> None:
    text = show(store, io.StringIO(), epochs=None, seconds=0.05)
    assert "left" not in text
    assert "training finished" in text
