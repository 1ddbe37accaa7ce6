import csv
import os
import socket
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import pytest
import safetensors.torch
import torch
import torch.distributed as dist
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor
from torch.amp.grad_scaler import GradScaler
from training.small import CONFIG, random_batch, small

from candlecast.training.accumulate import accumulate_gradients, micro_batches, total_weight
from candlecast.training.distributed import Processes, Replica, process_group, relaunch
from candlecast.training.loss import make_loss_sum
from candlecast.training.precision import make_precision

RANKS = Path(__file__).with_name("ranks.py")


@given(windows=st.integers(1, 40), count=st.integers(1, 9))
def test_the_shares_of_all_processes_are_the_batch(windows: int, count: int) -> None:
    batch = random_batch(windows)
    shares = [Processes(rank, count).share(batch) for rank in range(count)]
    real = [share for share in shares if share.weight.sum() > 0]

    assert torch.equal(torch.cat([share.rows for share in real]), batch.rows)
    assert max(map(len, real)) - min(map(len, real)) <= 1
    assert all(len(share) > 0 for share in shares)  # none leaves the others waiting
    assert sum(share.weight.sum() for share in shares) == pytest.approx(batch.weight.sum().item())


def test_a_process_on_its_own_asks_nobody() -> None:
    alone = Processes()
    assert alone.first
    assert alone.any(True, torch.device("cpu"))
    assert not alone.any(False, torch.device("cpu"))
    assert alone.from_first(b"bytes", torch.device("cpu")) == b"bytes"
    with process_group({}) as processes:  # torchrun did not start this
        assert processes == alone
    relaunch("train.py", 1, {})


def test_the_stage_becomes_torchrun_when_it_is_told_to_use_several_processes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("os.execve", lambda *call: (_ for _ in ()).throw(SystemExit(call)))
    with pytest.raises(SystemExit) as called:
        relaunch("pipeline/train.py", 3, {"HOME": "here"})
    program, command, environ = called.value.code
    assert program == command[0] == sys.executable
    assert "--nproc-per-node=3" in command
    assert "pipeline/train.py" in command
    assert environ == {"HOME": "here", "TORCH_DISABLE_SHARE_RDZV_TCP_STORE": "1"}
    relaunch("pipeline/train.py", 3, {"TORCHELASTIC_RUN_ID": "1"})  # it is one of the three already


def test_gradients_are_summed_once_an_update_and_both_passes_of_the_others_are_left_alone(
    tmp_path: Path,
) -> None:
    dist.init_process_group("gloo", init_method=f"file://{tmp_path}/store", rank=0, world_size=1)
    try:
        model, batch = small(), random_batch(14, dtype=torch.float32)
        replica = Replica(model)
        loss_sum = make_loss_sum(replica, CONFIG, make_precision("fp32", torch.device("cpu")))  # type: ignore[arg-type]
        for update in (1, 2, 3):
            slices, n = micro_batches(batch, 4), total_weight(batch)
            off = GradScaler("cpu", enabled=False)
            accumulate_gradients(loss_sum, slices, n, off, replica.context)
            assert replica.reductions == update
        # The article's way, with only the backward pass inside, reduces every time.
        for part in slices:
            loss = loss_sum(part)
            with replica.parallel.no_sync():
                loss.backward()
        assert replica.reductions == 3 + len(slices)
    finally:
        dist.destroy_process_group()


ENVIRONMENT = {
    **os.environ,
    "PYTHONPATH": os.pathsep.join(sys.path),
    "OMP_NUM_THREADS": "1",
    "TORCH_DISABLE_SHARE_RDZV_TCP_STORE": "1",
}


def torchrun(folder: Path, *arguments: str, processes: int, agents: int = 1) -> None:
    """Start processes on this machine as torchrun does, under one agent or several, and wait for them."""
    meeting = ["--standalone"]
    if agents > 1:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        meeting = [f"--nnodes={agents}", "--rdzv-backend=c10d", "--rdzv-id=tests"]
        meeting += [f"--rdzv-endpoint=127.0.0.1:{port}", "--local-addr=127.0.0.1"]
    options = [*meeting, f"--nproc-per-node={processes // agents}", "--max-restarts=2"]
    command = [sys.executable, "-m", "torch.distributed.run", *options, RANKS, folder, *arguments]
    logs = [folder / f"agent{agent}.log" for agent in range(agents)]
    with ExitStack() as stack:
        files = [stack.enter_context(log.open("w")) for log in logs]
        running = [
            stack.enter_context(subprocess.Popen(command, env=ENVIRONMENT, stdout=file, stderr=file))
            for file in files
        ]
        try:
            statuses = [process.wait(timeout=240) for process in running]
        finally:
            for process in running:
                process.terminate()
    assert statuses == [0] * agents, "\n".join(log.read_text()[-3000:] for log in logs)


def read(folder: Path) -> tuple[dict[str, Tensor], list[dict[str, str]], list[int]]:
    weights = safetensors.torch.load_file(folder / "weights.safetensors")
    rows = list(csv.DictReader((folder / "history.csv").read_text().splitlines()))
    return weights, rows, [int(number) for number in (folder / "counts.txt").read_text().split()]


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("alone")
    subprocess.run([sys.executable, RANKS, folder, "plain", "empty", "noise"], env=ENVIRONMENT, check=True)
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("count", [2, 3])
def test_several_processes_train_as_one_does(alone: Path, tmp_path: Path, count: int) -> None:
    torchrun(tmp_path, "plain", "empty", "noise", processes=count)
    for case in ("plain", "empty", "noise"):
        expected_weights, expected_rows, (updates, _, _, _) = read(alone / f"{case}0")
        for rank in range(count):
            weights, _, (own_updates, reductions, told, _) = read(tmp_path / f"{case}{rank}")
            assert own_updates == reductions == updates  # one all-reduce an update
            assert told == (updates if rank == 0 else 0)  # the first process speaks
            for name, tensor in expected_weights.items():
                torch.testing.assert_close(weights[name], tensor, rtol=1e-6, atol=1e-6)
        rows = read(tmp_path / f"{case}0")[1]
        for ours, theirs in zip(rows, expected_rows, strict=True):
            assert ours["samples_seen"] == theirs["samples_seen"]
            assert float(ours["loss"]) == pytest.approx(float(theirs["loss"]), rel=1e-5)
            assert float(ours["grad_norm"]) == pytest.approx(float(theirs["grad_norm"]), rel=1e-4)
            for column in ("noise_trace", "noise_signal"):
                if case == "noise" and theirs[column]:
                    assert float(ours[column]) == pytest.approx(float(theirs[column]), rel=1e-3)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("undisturbed")
    torchrun(folder, "resumed", processes=2)
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("agents", [1, 2])
def test_a_killed_process_brings_all_back_from_the_checkpoint(
    undisturbed: Path, tmp_path: Path, agents: int
) -> None:
    """Under one torchrun, and under two that met over TCP as two hosts do."""
    torchrun(tmp_path, "resumed", "--die-after", "9", processes=2, agents=agents)
    assert (tmp_path / "died").exists()
    *_, resumed = read(tmp_path / "resumed0")[2]
    assert 0 < resumed < 9
    for rank in range(2):
        expected, rows, _ = read(undisturbed / f"resumed{rank}")
        weights, own_rows, _ = read(tmp_path / f"resumed{rank}")
        assert rows == own_rows
        assert all(torch.equal(weights[name], tensor) for name, tensor in expected.items())
