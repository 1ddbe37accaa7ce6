"""What MLflow's logging costs a training: the default model at 16 x 8, with its run on and off.

    python -m benchmarks.logging_share [--rounds 3] [--json FILE]

The run lies in an SQLite store, as by default. Two figures: the share of the training's seconds spent in the
observer that writes to MLflow, by a stopwatch around it, which a busy machine hardly moves; and as a check
the seconds with the run on over those with it off, the median over rounds that alternate. Opening a run, once
a training, is printed beside them and is in neither.
"""

import argparse
import statistics
import tempfile
import time
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path

import torch
from benchmarks.batches import FEATURES, LENGTH, random_store
from benchmarks.ratios import Ratio, leave
from benchmarks.trainers import Job

from candlecast.models.config import ModelConfig
from candlecast.models.hybrid import build_model
from candlecast.params import load_params, read_params
from candlecast.tracking.session import training_run
from candlecast.training.config import AccumConfig, Recipe, TrainConfig
from candlecast.training.loop import train
from candlecast.training.records import Observer

UPDATES = 80
PARAMS = Path("params.yaml")


class Stopwatch:
    """An observer around another one, that sums the seconds it takes."""

    def __init__(self, observer: Observer) -> None:
        self.seconds = 0.0
        for name in ("on_start", "on_updates", "on_validation", "on_event", "on_end"):
            setattr(self, name, self._timed(getattr(observer, name)))

    def _timed(self, call: Callable[[object], None]) -> Callable[[object], None]:
        def timed(told: object) -> None:
            start = time.perf_counter()
            call(told)
            self.seconds += time.perf_counter() - start

        return timed


def seconds_of(job: Job, observers: Sequence[Observer]) -> float:
    torch.manual_seed(1)
    model = build_model(load_params("model", ModelConfig), FEATURES, LENGTH)
    start = time.perf_counter()
    train(model, job.dataset, job.few, job.recipe, observers)
    return time.perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    accum = AccumConfig(micro_batch=16, steps=8, effective_batch=None)
    recipe = Recipe(train=load_params("train", TrainConfig), accum=accum, seed=1)
    job = Job(random_store(tickers=5, bars=2500), recipe, UPDATES)
    times: dict[str, list[float]] = {"off": [], "on": [], "in the observer": [], "to open the run": []}
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(options.rounds):
            times["off"].append(seconds_of(job, []))
            opening = time.perf_counter()
            with training_run({}, Path(folder), read_params(PARAMS), "0" * 64) as log:
                times["to open the run"].append(time.perf_counter() - opening)
                watch = Stopwatch(log.observer)
                times["on"].append(seconds_of(job, [watch]))
                times["in the observer"].append(watch.seconds)
    for name, values in times.items():
        print(f"{name:18}{statistics.median(values):7.3f} s, median ({min(values):.3f} to {max(values):.3f})")
    shares = [inside / on for inside, on in zip(times["in the observer"], times["on"], strict=True)]
    factors = [on / off for on, off in zip(times["on"], times["off"], strict=True)]
    ratios = [
        Ratio(
            what="seconds in MLflow's observer",
            against="training",
            value=statistics.median(shares),
            goal=0.01,
            reached="at most",
        ),
        Ratio(
            what="training with MLflow",
            against="without",
            value=statistics.median(factors),
            goal=1.01,
            reached="at most",
        ),
    ]
    leave(options.json, ratios, {"updates": UPDATES, "seconds": times})


if __name__ == "__main__":
    main()
