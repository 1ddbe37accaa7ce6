"""What MLflow's logging costs a training: the default model at 16 x 8, with its run on and off.

    python -m benchmarks.logging_share [--rounds 2] [--json FILE]

The run lies in an SQLite store, as by default. Two figures: the share of the training's seconds spent in the
observer that writes to MLflow, by a stopwatch around it, which a busy machine hardly moves; and as a check
the processor time with the run on over that with it off, the median over rounds whose order alternates. The
check resolves 1 % on a quiet machine only. Opening a run, once a training, is printed and is in neither.
"""

import argparse
import statistics
import tempfile
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
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

UPDATES = 232  # as many as `dvc repro` makes on the bundled data; what is spent once counts as it does there
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


@dataclass(frozen=True, slots=True)
class Spent:
    """Seconds of one training."""

    wall: float
    processor: float


def spent_by(job: Job, observers: Sequence[Observer]) -> Spent:
    torch.manual_seed(1)
    model = build_model(load_params("model", ModelConfig), FEATURES, LENGTH)
    wall, processor = time.perf_counter(), time.process_time()
    train(model, job.dataset, job.few, job.recipe, observers)
    return Spent(time.perf_counter() - wall, time.process_time() - processor)


class Trials:
    """Trainings with and without a run, and how long opening it and the observer took."""

    def __init__(self, job: Job, folder: Path) -> None:
        self._job, self._folder = job, folder
        self.off: list[Spent] = []
        self.on: list[Spent] = []
        self.opening: list[float] = []
        self.observing: list[float] = []

    def without(self) -> None:
        self.off.append(spent_by(self._job, []))

    def with_run(self) -> None:
        start = time.perf_counter()
        with training_run({}, self._folder, read_params(PARAMS), "0" * 64) as log:
            self.opening.append(time.perf_counter() - start)
            watch = Stopwatch(log.observer)
            self.on.append(spent_by(self._job, [watch]))
            self.observing.append(watch.seconds)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    accum = AccumConfig(micro_batch=16, steps=8, effective_batch=None)
    recipe = Recipe(train=load_params("train", TrainConfig), accum=accum, seed=1)
    job = Job(random_store(tickers=32, bars=2500), recipe, UPDATES)
    with tempfile.TemporaryDirectory() as folder:
        trials = Trials(job, Path(folder))
        for number in range(options.rounds):
            for run in (trials.without, trials.with_run)[:: -1 if number % 2 else 1]:
                run()
    times = {
        "off": [spent.wall for spent in trials.off],
        "on": [spent.wall for spent in trials.on],
        "in the observer": trials.observing,
        "to open the run": trials.opening,
    }
    for name, values in times.items():
        print(f"{name:18}{statistics.median(values):7.3f} s, median ({min(values):.3f} to {max(values):.3f})")
    shares = [inside / on.wall for inside, on in zip(trials.observing, trials.on, strict=True)]
    factors = [on.processor / off.processor for on, off in zip(trials.on, trials.off, strict=True)]
    ratios = [
        Ratio(
            what="seconds in MLflow's observer",
            against="training",
            value=statistics.median(shares),
            goal=0.01,
            reached="at most",
        ),
        Ratio(
            what="processor time of a training with MLflow",
            against="without",
            value=statistics.median(factors),
            goal=1.01,
            reached="at most",
        ),
    ]
    leave(options.json, ratios, {"updates": UPDATES, "seconds": times})


if __name__ == "__main__":
    main()
