"""Run by torchrun in the tests: trains the small model in this process together with the others.

usage: ranks.py FOLDER CASE... [--die-after UPDATES]    the last process is killed once, after so many
"""

import argparse
import os
import signal
from dataclasses import replace
from pathlib import Path

import safetensors.torch
import torch
from torch import nn
from torch.optim.optimizer import register_optimizer_step_post_hook
from training.small import CONFIG, Recorder, recipe, small, small_store

from candlecast.training.checkpoint import Checkpoints
from candlecast.training.config import Recipe
from candlecast.training.distributed import Processes, Replica, process_group
from candlecast.training.history import write_history
from candlecast.training.loop import train
from candlecast.windows.dataset import WindowDataset

# 100 windows an epoch: the last effective batch has 4 windows in `plain`, of which three processes get
# 1, 1 and 2, and 1 window in `empty`, where all processes but one have nothing to do.
# In `noise` any number of processes up to three cuts the same micro-batches of 2.
CASES: dict[str, Recipe] = {
    "plain": recipe(CONFIG, micro_batch=4, steps=3),
    "empty": recipe(CONFIG, micro_batch=3, steps=11),
    "noise": recipe(replace(CONFIG, epochs=None, samples=96, noise_every=2), micro_batch=2, steps=6),
    "resumed": recipe(replace(CONFIG, checkpoint_seconds=0.0, log_every=2), micro_batch=2, steps=6),
}
REPLICAS: list[Replica] = []


class CountedReplica(Replica):
    def __init__(self, model: nn.Module) -> None:
        super().__init__(model)
        REPLICAS.append(self)


def run(case: str, folder: Path, processes: Processes) -> None:
    model = small(dropout=0.3 if case == "resumed" else 0.0)
    store, heard = small_store(), Recorder()
    sets = WindowDataset(store, "train"), WindowDataset(store, "validation")
    checkpoints = Checkpoints(folder, "key") if case == "resumed" else None
    result = train(model, *sets, CASES[case], [heard], checkpoints)
    own = folder / f"{case}{processes.rank}"
    own.mkdir()
    safetensors.torch.save_file(model.state_dict(), own / "weights.safetensors")
    write_history(own, result.updates, result.validations)
    resumed = heard.told[0].resumed_update if heard.told else -1
    reductions = REPLICAS[-1].reductions if REPLICAS else 0
    (own / "counts.txt").write_text(f"{result.counters.update} {reductions} {len(heard.updates)} {resumed}")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("cases", nargs="+")
    parser.add_argument("--die-after", type=int)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    with process_group(os.environ) as processes:
        died, updates = arguments.folder / "died", 0

        def count(*_: object) -> None:
            nonlocal updates
            updates += 1
            last = processes.rank == processes.count - 1
            if last and updates == arguments.die_after and not died.exists():
                died.touch()
                os.kill(os.getpid(), signal.SIGKILL)

        register_optimizer_step_post_hook(count)
        for case in arguments.cases:
            run(case, arguments.folder, processes)


if __name__ == "__main__":
    import candlecast.training.execution

    candlecast.training.execution.Replica = CountedReplica
    main()
