"""What the trainer costs beyond the arithmetic: milliseconds a micro-step of a tiny model.

    python -m benchmarks.trainer_overhead [--rounds 9] [--json FILE]

The trainers of benchmarks/trainers.py at 8 windows x 4. Processor time of one thread, so that another load
on the machine matters little. A round is one short training by each; a ratio is the median over the rounds of
the ratio within a round, since a machine's speed drifts. A peer that is not installed is left out.
What the trainer adds to the default model is in benchmarks/training_step.py.
"""

import argparse
import statistics
import warnings
from pathlib import Path

import numpy as np
import torch
from benchmarks.ratios import Ratio, leave
from benchmarks.trainers import Clock, Job, bare, candlecast, loader, peers
from torch import Tensor, nn

from candlecast.models.hybrid import Forecast
from candlecast.params import load_params
from candlecast.training.config import AccumConfig, Recipe, TrainConfig
from candlecast.windows.panel import Panel
from candlecast.windows.scaling import Standardizer
from candlecast.windows.split import Split
from candlecast.windows.store import WindowStore

LENGTH, FEATURES, WIDTH = 32, 8, 16
MICRO, STEPS = 8, 4
WARM, UPDATES = 10, 70  # of which the first do not count


class Tiny(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv, self.deep = nn.Conv1d(FEATURES, WIDTH, 3), nn.Conv1d(WIDTH, WIDTH, 3)
        self.norm = nn.LayerNorm(WIDTH)
        self.mean_head, self.direction_head = nn.Linear(WIDTH, 1), nn.Linear(WIDTH, 1)

    def forward(self, inputs: Tensor) -> Forecast:
        hidden = torch.relu(self.deep(torch.relu(self.conv(inputs.transpose(1, 2)))))
        hidden = self.norm(hidden.mean(dim=2))
        return Forecast(self.mean_head(hidden).squeeze(-1), self.direction_head(hidden).squeeze(-1))


def make_store() -> WindowStore:
    random, windows = np.random.default_rng(0), MICRO * STEPS * UPDATES
    rows = windows + LENGTH + 40
    panel = Panel(
        features=random.standard_normal((rows, FEATURES)).astype(np.float32),
        target=np.append(random.standard_normal(rows - 1), np.nan),
        date=np.datetime64("1980-01-01") + np.arange(rows),
        session=np.arange(rows, dtype=np.int32),
        ticker=np.zeros(rows, np.int32),
        segment=np.zeros(rows, np.int32),
        tickers=("AAA",),
        feature_names=tuple(f"f{number}" for number in range(FEATURES)),
        horizon=1,
    )
    ends = np.arange(LENGTH - 1, rows - 1)
    split = Split(ends[:windows], ends[windows : windows + 20], ends[-20:], boundaries={}, fold=0, folds=1)
    return WindowStore(panel, split, Standardizer.fit(panel, split, LENGTH, 8.0), LENGTH)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    accum = AccumConfig(micro_batch=MICRO, steps=STEPS, effective_batch=None)
    job = Job(make_store(), Recipe(train=load_params("train", TrainConfig), accum=accum, seed=1), UPDATES)
    runs = {"bare": bare, "candlecast": candlecast, "loader": loader, **peers()}
    times: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(arguments.rounds):
        for name, run in runs.items():
            clock = Clock(WARM)
            run(job, Tiny(), clock)
            times[name].append(1000 * clock.seconds().processor / STEPS)
    for name, values in times.items():
        print(
            f"{name:12}{statistics.median(values):8.3f} ms a micro-step, median "
            f"({min(values):.3f} to {max(values):.3f}), {ratio(times, name, 'bare'):.3f} x bare"
        )
    ratios = [
        Ratio(
            what="trainer's micro-step, tiny model",
            against=against,
            value=ratio(times, "candlecast", against),
            goal=1.05 if against == "bare" else 1.0,
            reached="at most",
        )
        for against in times
        if against != "candlecast"
    ]
    leave(arguments.json, ratios, {"milliseconds_a_micro_step": times})


def ratio(times: dict[str, list[float]], name: str, against: str) -> float:
    """Return the median of the rounds' ratios."""
    return statistics.median(a / b for a, b in zip(times[name], times[against], strict=True))


if __name__ == "__main__":
    main()
