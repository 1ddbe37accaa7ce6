"""The memory an update really holds at its peak, 16 x 8 against 128 x 1, beside the predicted one.

    python -m benchmarks.peak_memory [--json FILE]

Each shape runs in a process of its own at the sizes of params.yaml, on the CPU, after an update that does not
count. Two figures are taken of it. "Tensors" are the bytes that torch's allocator handed out, as its profiler
saw every allocation and release: this is what is predicted, and what the goals are about. "Resident" is how
far the process itself grew by Linux's count, with what nobody predicts: the kernels' workspaces, and pages
that the C library keeps. What one update does not make, the copies of the best weights, is left out of both.
"""

import argparse
import ctypes
import gc
import json
import subprocess
import sys
from pathlib import Path

import torch
from benchmarks.process_memory import restart_peak, status_bytes
from benchmarks.ratios import Ratio, leave
from torch.profiler import ProfilerActivity, profile

from candlecast.features.catalogue import select
from candlecast.settings import load_settings
from candlecast.training.config import Recipe
from candlecast.training.memory import predict
from candlecast.training.memory_plan import MIB
from candlecast.training.rehearsal import Rehearsal, Workload, tensors

EFFECTIVE = 128
SMALL, LARGE = 16, 128


def make_workload() -> Workload:
    settings = load_settings()
    return Workload(
        model=settings.model,
        recipe=Recipe(train=settings.train, accum=settings.accum, seed=settings.seed),
        num_features=len(select(settings.features.families)),
        length=settings.windows.length,
    )


def measure(micro_batch: int) -> dict[str, float]:
    """Return the peak of an update in this process, in bytes of tensors and of resident memory."""
    torch.set_num_threads(1)
    workload = make_workload()
    Rehearsal(workload, "fp32", 1).update(1)  # loads the kernels
    settle()
    before = status_bytes("VmRSS")
    restart_peak()
    rehearsal = Rehearsal(workload, "fp32", EFFECTIVE)
    rehearsal.prime()
    rehearsal.update(micro_batch)
    resident = status_bytes("VmHWM") - before
    return {"tensors": held(rehearsal) + peak_of(rehearsal, micro_batch), "resident": resident}


def settle() -> None:
    """Give back what nothing refers to, also to the operating system."""
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)


def held(rehearsal: Rehearsal) -> int:
    """Return the bytes that are there before an update: weights, moments, windows."""
    moments = [value for state in rehearsal.optimizer.state.values() for value in state.values()]
    everything = (
        *rehearsal.model.parameters(),
        *rehearsal.model.buffers(),
        *tensors(rehearsal.batch),
        *moments,
    )
    return sum(tensor.nbytes for tensor in everything)


def peak_of(rehearsal: Rehearsal, micro_batch: int) -> int:
    """Return by how much the tensors grow during an update, at most."""
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as profiler:
        rehearsal.update(micro_batch)
    results = profiler.profiler
    assert results is not None
    events = [event for event in results.kineto_results.events() if event.name() == "[memory]"]
    now = peak = 0
    for event in sorted(events, key=lambda event: event.start_ns()):
        now += event.nbytes()
        peak = max(peak, now)
    return peak


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--micro-batch", type=int, help="measure this one here and print it as JSON")
    options = parser.parse_args()
    if options.micro_batch:
        print(json.dumps(measure(options.micro_batch)))
        return
    memory = predict(make_workload(), "fp32")
    figures: dict[str, dict[str, float]] = {}
    for size in (SMALL, LARGE):
        command = [sys.executable, "-m", "benchmarks.peak_memory", "--micro-batch", str(size)]
        printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        peak = memory.peak(size, EFFECTIVE)
        figures[f"{size} x {EFFECTIVE // size}"] = {
            "predicted": peak.total - peak.copies,
            **json.loads(printed.splitlines()[-1]),
        }
    for name, figure in figures.items():
        print(f"{name:8}", ", ".join(f"{what} {size / MIB:.1f} MiB" for what, size in figure.items()))
    small, large = figures.values()
    ratios = [
        Ratio(
            what=f"peak memory of an update, {what}, {SMALL} x {EFFECTIVE // SMALL}",
            against=f"{LARGE} x 1",
            value=small[what] / large[what],
            goal=1 / 6,
            reached="at most",
        )
        for what in ("tensors", "resident")
    ]
    ratios += [
        Ratio(
            what=f"peak memory of an update, {name}, prediction's error",
            against="measured tensors",
            value=abs(figure["predicted"] / figure["tensors"] - 1),
            goal=0.05,
            reached="at most",
        )
        for name, figure in figures.items()
    ]
    leave(options.json, ratios, {"bytes": figures})


if __name__ == "__main__":
    main()
