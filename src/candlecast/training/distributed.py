"""Several processes that share every effective batch, started by torchrun.

Each process sees the same order of windows and takes its share of each effective batch, so the order and
the denominator are those of one process. Gradients are summed, not averaged: line 3 has divided by the
weight of the whole effective batch already. They are summed once an update, because forward and backward
of all but a process's last micro-batch run inside `no_sync`.
"""

import logging
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch._C._distributed_c10d import GradBucket
from torch.nn.parallel import DistributedDataParallel

from candlecast.windows.batch import Batch

logger = logging.getLogger(__name__)

RESTARTS = 3  # of all processes, after one has died
# The store torchrun shares with its processes by default still holds, after a restart, the addresses of
# those that died (pytorch issue 135712); with this each attempt gets a new one.
UNSHARED_STORE = "TORCH_DISABLE_SHARE_RDZV_TCP_STORE"
BYTES_PER_MIB = 2**20


@dataclass(frozen=True, slots=True)
class Processes:
    """The place of a process among those that train together."""

    rank: int = 0
    count: int = 1

    @property
    def first(self) -> bool:
        """Say whether this process is the one that logs and writes."""
        return self.rank == 0

    def share(self, batch: Batch) -> Batch:
        """Return this process's part of an effective batch; all parts together are the batch.

        Shares differ by one window at most. An empty one becomes a window of no weight, since a process
        that runs no backward pass would leave the others waiting.
        """
        if self.count == 1:
            return batch
        start, end = (len(batch) * rank // self.count for rank in (self.rank, self.rank + 1))
        own = batch[start:end]
        return own if len(own) else replace(batch[:1], weight=torch.zeros_like(batch.weight[:1]))

    def sum(self, values: Tensor) -> Tensor:
        """Return the sum over all processes."""
        if self.count > 1:
            dist.all_reduce(values)
        return values

    def any(self, flag: bool, device: torch.device) -> bool:
        """Say whether the flag is up in any process; all get the same answer."""
        return flag if self.count == 1 else bool(self.sum(torch.tensor(int(flag), device=device)))

    def gather(self, value: Tensor, device: torch.device) -> list[Tensor]:
        """Return every process's `value`, which has one shape in all of them, on the CPU."""
        if self.count == 1:
            return [value]
        own = value.to(device)
        everyone = [torch.empty_like(own) for _ in range(self.count)]
        dist.all_gather(everyone, own)
        return [theirs.cpu() for theirs in everyone]

    def from_first(self, data: bytes, device: torch.device) -> bytes:
        """Return the first process's bytes in every process."""
        if self.count == 1:
            return data
        length = torch.tensor(len(data), device=device)
        dist.broadcast(length, src=0)
        buffer = torch.zeros(int(length), dtype=torch.uint8, device=device)
        if self.first and data:
            buffer.copy_(torch.frombuffer(bytearray(data), dtype=torch.uint8))
        dist.broadcast(buffer, src=0)
        return buffer.cpu().numpy().tobytes()


def current_processes() -> Processes:
    """Return this process's place in the process group, or that of a process on its own."""
    if dist.is_available() and dist.is_initialized():
        return Processes(dist.get_rank(), dist.get_world_size())
    return Processes()


class Replica(nn.Module):
    """A model whose gradients are summed over the processes at the last micro-batch of each update."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        size = sum(parameter.numel() * parameter.element_size() for parameter in model.parameters())
        # One bucket: a model of this size gains nothing from overlapping several.
        self.parallel = DistributedDataParallel(model, bucket_cap_mb=size // BYTES_PER_MIB + 1)
        self.reductions = 0
        self.parallel.register_comm_hook(None, self._sum)

    def forward(self, inputs: Tensor) -> object:
        """Run the model."""
        return self.parallel(inputs)

    def context(self, last: bool) -> AbstractContextManager[object]:
        """Surround forward and backward: outside `no_sync` either one alone would synchronise."""
        return nullcontext() if last else self.parallel.no_sync()

    def _sum(self, _: object, bucket: GradBucket) -> torch.futures.Future[Tensor]:
        self.reductions += bucket.is_last()
        work = dist.all_reduce(bucket.buffer(), async_op=True)
        assert work is not None
        summed: torch.futures.Future[Tensor] = work.get_future().then(lambda future: future.value()[0])
        return summed


@contextmanager
def process_group(environ: Mapping[str, str]) -> Iterator[Processes]:
    """Join the group that torchrun set up, if it started this process; leave it at the end.

    `environ` is the process's environment, which is how torchrun speaks to it.
    """
    if not started_by_torchrun(environ):
        yield Processes()
        return
    if environ.get("TORCHELASTIC_USE_AGENT_STORE") == "True" and environ["TORCHELASTIC_MAX_RESTARTS"] != "0":
        logger.warning("torchrun: a restart may find dead addresses in its store; set %s=1", UNSHARED_STORE)
    dist.init_process_group("nccl" if torch.cuda.is_available() else "gloo")
    try:
        yield current_processes()
    finally:
        dist.destroy_process_group()


def started_by_torchrun(environ: Mapping[str, str]) -> bool:
    """Say whether torchrun started this process."""
    return "TORCHELASTIC_RUN_ID" in environ


def own_device(environ: Mapping[str, str]) -> torch.device:
    """Return this process's GPU, or the CPU where there is none."""
    if not torch.cuda.is_available():
        return torch.device("cpu")
    device = torch.device("cuda", int(environ.get("LOCAL_RANK", "0")))
    torch.cuda.set_device(device)
    return device


def relaunch(script: str, processes: int, environ: Mapping[str, str]) -> None:
    """Become torchrun with `processes` copies of `script`; return at once where there is nothing to do.

    For many nodes, start torchrun by hand on each with the same script: it is launched already then.
    """
    if processes == 1 or started_by_torchrun(environ):
        return
    options = ["--standalone", f"--nproc-per-node={processes}", f"--max-restarts={RESTARTS}"]
    command = [sys.executable, "-m", "torch.distributed.run", *options, script, *sys.argv[1:]]
    # Our own interpreter, no shell.
    os.execve(sys.executable, command, {**environ, UNSHARED_STORE: "1"})  # noqa: S606
