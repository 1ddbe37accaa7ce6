import errno
import io
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from torch import Tensor
from training.small import CONFIG, Recorder, Small, recipe, small

from candlecast.errors import TrainingError
from candlecast.training.checkpoint import Checkpoints, checkpoint_key
from candlecast.training.config import TrainConfig
from candlecast.training.loop import TrainingResult, train
from candlecast.training.progress import Progress
from candlecast.training.records import TrainingEvent, TrainingPlan, TrainingSummary, UpdateRecord
from candlecast.windows.dataset import WindowDataset
from candlecast.windows.store import WindowStore

# Everything with a memory: dropout, averaged weights, noise measurements, a half-read log.
BUSY = replace(
    CONFIG, epochs=4, checkpoint_seconds=0.0, ema_half_life=50, noise_every=2, log_every=4, precision="bf16"
)
PYTHON = Path(sys.executable)


class Killed(BaseException):
    """Ends a training where a kill would: nothing is saved on the way out."""


def run(
    store: WindowStore,
    folder: Path | None = None,
    config: TrainConfig = BUSY,
    observers: tuple[object, ...] = (),
    norm: str = "batch",
) -> tuple[TrainingResult, Small]:
    model = small(norm, dropout=0.3)
    sets = WindowDataset(store, "train"), WindowDataset(store, "validation")
    checkpoints = None if folder is None else Checkpoints(folder, "key")
    return train(model, *sets, recipe(config), observers, checkpoints), model


def everything(result: TrainingResult, model: Small) -> dict[str, Tensor]:
    return model.state_dict() | {f"best {name}": tensor for name, tensor in result.best_state.items()}


def assert_same(ours: tuple[TrainingResult, Small], theirs: tuple[TrainingResult, Small]) -> None:
    for name, tensor in everything(*ours).items():
        assert torch.equal(tensor, everything(*theirs)[name]), name

    def clockless(result: TrainingResult) -> list[object]:
        return [replace(record, seconds=0.0, windows_per_second=0.0) for record in result.updates]

    assert clockless(ours[0]) == clockless(theirs[0])
    assert ours[0].validations == theirs[0].validations
    assert ours[0].counters == theirs[0].counters


class KilledAt(Recorder):
    """Raises in the middle of the training, as soon as that many updates have been heard of."""

    def __init__(self, update: int) -> None:
        super().__init__()
        self.update = update

    def on_updates(self, records: Sequence[UpdateRecord]) -> None:
        super().on_updates(records)
        if self.updates[-1].update >= self.update:
            raise Killed


@pytest.mark.filterwarnings("ignore:model.norm")
@pytest.mark.parametrize("precision", ["fp32", "bf16", "fp16"])
@pytest.mark.parametrize("update", [2, 7, 20])
def test_a_training_killed_anywhere_and_run_again_ends_with_the_same_bits(
    store: WindowStore, tmp_path: Path, update: int, precision: str
) -> None:
    config = replace(BUSY, precision=precision)
    undisturbed = run(store, config=config)
    with pytest.raises(Killed):
        run(store, tmp_path, config, (KilledAt(update),))
    heard = Recorder()
    assert_same(run(store, tmp_path, config, (heard,)), undisturbed)

    plan = heard.told[0]
    assert isinstance(plan, TrainingPlan)
    assert 0 < plan.resumed_update < len(undisturbed[0].updates)
    assert heard.updates[0].update == plan.resumed_update + 1  # nothing before it is said again


def test_an_interruption_without_a_checkpoint_does_not_promise_one(store: WindowStore) -> None:
    said = io.StringIO()
    with pytest.raises(Killed):
        run(store, observers=(Progress(said), KilledAt(3)))
    assert said.getvalue().splitlines()[-1] == "no state was saved; the same command starts over"


def test_killed_twice_is_as_good_as_never(store: WindowStore, tmp_path: Path) -> None:
    for update in (3, 9):
        with pytest.raises(Killed):
            run(store, tmp_path, observers=(KilledAt(update),))
    assert_same(run(store, tmp_path), run(store))


def test_a_finished_training_is_not_trained_further(store: WindowStore, tmp_path: Path) -> None:
    first = run(store, tmp_path)
    heard = Recorder()
    assert_same(run(store, tmp_path, observers=(heard,)), first)
    assert heard.updates == []
    assert isinstance(heard.told[-1], TrainingSummary)


def test_patience_ends_a_resumed_training_where_it_would_have_ended(
    store: WindowStore, tmp_path: Path
) -> None:
    config = replace(BUSY, epochs=40, patience=100, peak_lr=0.2, validate_every=12, warmup_fraction=0.0)
    undisturbed = run(store, config=config)
    assert undisturbed[0].outcome == "stopped_early"
    with pytest.raises(Killed):
        run(store, tmp_path, config, (KilledAt(5),))
    for _ in range(2):
        again = run(store, tmp_path, config)
        assert again[0].outcome == "stopped_early"
        assert_same(again, undisturbed)


def test_a_full_disk_costs_the_checkpoint_and_not_the_training(
    store: WindowStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(Killed):
        run(store, tmp_path, observers=(KilledAt(3),))
    path = Checkpoints(tmp_path, "key").path
    before = path.read_bytes()

    def full(self: Path, data: bytes) -> int:
        with self.open("wb") as file:
            file.write(data[: len(data) // 2])
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(Path, "write_bytes", full)
    heard = Recorder()
    assert_same(run(store, tmp_path, observers=(heard,)), run(store))

    events = [told for told in heard.told if isinstance(told, TrainingEvent)]
    assert {event.name for event in events} == {"checkpoint_failed"}
    assert "No space left" in str(events[0].detail["reason"])
    assert path.read_bytes() == before
    assert [file.name for file in path.parent.iterdir()] == [path.name]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs Linux's /dev/full")
def test_the_error_of_a_really_full_device_is_the_one_that_is_expected(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="No space left"):
        Path("/dev/full").write_bytes(b"x" * 10)


def test_a_damaged_checkpoint_is_named_with_the_remedy(store: WindowStore, tmp_path: Path) -> None:
    run(store, tmp_path)
    path = Checkpoints(tmp_path, "key").path
    path.write_bytes(path.read_bytes()[:100])
    with pytest.raises(TrainingError, match=r"checkpoint\.safetensors: cannot be read .* delete it"):
        run(store, tmp_path)


def test_checkpoints_are_removed_whole_with_what_a_kill_left_beside_them(tmp_path: Path) -> None:
    checkpoints = Checkpoints(tmp_path, "key")
    checkpoints.folder.mkdir()
    (checkpoints.folder / ".checkpoint.safetensors.half").write_bytes(b"half")
    checkpoints.remove()
    assert list(tmp_path.iterdir()) == []
    checkpoints.remove()  # nothing to remove is no error


def test_the_interval_is_kept(store: WindowStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    saved: list[int] = []
    save = Checkpoints.save
    monkeypatch.setattr(
        Checkpoints, "save", lambda self, state: (saved.append(state.counters.update), save(self, state))
    )
    result, _ = run(store, tmp_path, replace(BUSY, checkpoint_seconds=1e9))
    assert saved == [result.counters.update]  # only the last


@pytest.mark.parametrize("change", ["setting", "bytes", "name", "nothing"])
def test_the_key_changes_with_anything_the_training_depends_on(tmp_path: Path, change: str) -> None:
    one, two = tmp_path / "one.npy", tmp_path / "two.npy"
    one.write_bytes(b"1")
    two.write_bytes(b"2")
    settings = {"train": {"peak_lr": 1e-3}, "accum": {"steps": 8}}
    before = checkpoint_key(settings, [one, two])
    if change == "setting":
        settings["accum"]["steps"] = 4
    if change == "bytes":
        two.write_bytes(b"3")
    if change == "name":
        two = two.rename(tmp_path / "three.npy")
    after = checkpoint_key(settings, [two, one])
    assert (before == after) == (change == "nothing")


class SignalledAt(Recorder):
    """Sends this process a signal once that many updates have been heard of."""

    def __init__(self, update: int, number: signal.Signals) -> None:
        super().__init__()
        self.update, self.number = update, number

    def on_updates(self, records: Sequence[UpdateRecord]) -> None:
        super().on_updates(records)
        if self.updates[-1].update >= self.update:
            self.update = 10**9
            signal.raise_signal(self.number)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_waits_for_the_update_boundary_saves_and_then_has_its_way(
    store: WindowStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: signal.Signals
) -> None:
    def handler(number: int, frame: object) -> None:
        raise Killed

    earlier = signal.signal(number, handler)
    try:
        heard, said = SignalledAt(6, number), io.StringIO()
        with pytest.raises(Killed):
            run(store, tmp_path, replace(BUSY, checkpoint_seconds=1e9), (heard, Progress(said)))
        assert signal.getsignal(number) is handler
    finally:
        signal.signal(number, earlier)
    end = heard.told[-1]
    assert isinstance(end, TrainingSummary)
    assert end.outcome == "interrupted"
    assert said.getvalue().splitlines()[-1] == (
        f"the state at update {end.update} is saved; to go on from there, give the same command again, "
        "such as dvc repro"
    )

    again = Recorder()
    assert_same(run(store, tmp_path, observers=(again,)), run(store))
    assert heard.updates[-1].update + 1 == again.updates[0].update  # not one update is lost or said twice


SCRIPT = """
import sys, time
from dataclasses import replace
from pathlib import Path
import torch
from training.small import CONFIG, Recorder, recipe, small, small_store
from candlecast.stage import run_stage
from candlecast.training.checkpoint import Checkpoints
from candlecast.training.loop import train
from candlecast.windows.dataset import WindowDataset
import safetensors.torch

class Slow(Recorder):
    def on_updates(self, records):
        print("update", records[-1].update, flush=True)
        time.sleep(float(sys.argv[2]))

def main():
    torch.set_num_threads(1)
    store, model = small_store(), small(dropout=0.3)
    config = replace(CONFIG, epochs=4, checkpoint_seconds=0.0, log_every=1, ema_half_life=50)
    sets = WindowDataset(store, "train"), WindowDataset(store, "validation")
    checkpoints = Checkpoints(Path(sys.argv[1]), "key")
    result = train(model, *sets, recipe(config), [Slow()], checkpoints)
    safetensors.torch.save_file(model.state_dict(), sys.argv[3])
    print("resumed to", result.counters.update, flush=True)

run_stage(main)
"""


def start(folder: Path, pause: float) -> subprocess.Popen[str]:
    out = folder / "weights.safetensors"
    return subprocess.Popen(
        [PYTHON, "-W", "ignore", "-c", SCRIPT, folder, str(pause), out],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    folder = tmp_path_factory.mktemp("undisturbed")
    process = start(folder, 0.0)
    process.communicate()
    assert process.returncode == 0
    return (folder / "weights.safetensors").read_bytes()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("number", "status"),
    [(signal.SIGTERM, 143), (signal.SIGINT, 130), (signal.SIGKILL, -signal.SIGKILL)],
)
def test_a_process_that_is_signalled_or_killed_loses_nothing(
    tmp_path: Path, expected: bytes, number: signal.Signals, status: int
) -> None:
    with start(tmp_path, 0.2) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if line == "update 4\n":
                process.send_signal(number)
                break
        said = process.stdout.read()
    assert process.returncode == status
    assert "resumed" not in said
    assert not (tmp_path / "weights.safetensors").exists()

    again = start(tmp_path, 0.0)
    said, _ = again.communicate()
    assert again.returncode == 0
    assert not said.startswith("update 1\n")
    assert (tmp_path / "weights.safetensors").read_bytes() == expected
