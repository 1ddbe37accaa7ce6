"""Draw the validation loss of some DVC revisions against windows seen, and say their test scores in words.

    python scripts/compare_figure.py FIGURE.svg "16 x 8=HEAD" "16 x 1=small-batch"

Each argument after the figure is a label and a git revision or DVC experiment, `workspace` for the files
as they are. What is printed is what the README quotes.
"""

import csv
import json
import sys
from dataclasses import dataclass
from pathlib import Path

import dvc.api
import matplotlib as mpl
from matplotlib.figure import Figure

from candlecast.files import replacing

COLOURS = ("#2060c1", "#b06812", "#208042", "#707172")


@dataclass(frozen=True, slots=True)
class Training:
    """One revision's training, as its files tell it."""

    label: str
    samples_seen: list[int]
    validation_loss: list[float]
    updates: int
    metrics: dict[str, dict[str, float]]


def read(argument: str) -> Training:
    """Return the training at `label=revision`."""
    label, _, name = argument.rpartition("=")
    revision = None if name == "workspace" else name
    rows = list(csv.DictReader(dvc.api.read("reports/training/validation.csv", rev=revision).splitlines()))
    return Training(
        label=label,
        samples_seen=[int(row["samples_seen"]) for row in rows],
        validation_loss=[float(row["loss"]) for row in rows],
        updates=int(rows[-1]["update"]),
        metrics=json.loads(dvc.api.read("reports/metrics.json", rev=revision)),
    )


def draw(trainings: list[Training], path: Path) -> None:
    """Write the figure: one line a training, its lowest point circled."""
    with mpl.rc_context({"svg.hashsalt": "compare", "font.size": 10, "axes.grid": True, "grid.alpha": 0.3}):
        figure = Figure(figsize=(7.2, 3.2), layout="constrained", facecolor="white")
        axes = figure.subplots()
        for training, colour in zip(trainings, COLOURS, strict=False):
            seen, losses = training.samples_seen, training.validation_loss
            name = f"{training.label}, {training.updates:,} updates"
            axes.plot(seen, losses, marker="o", markersize=3, color=colour, label=name)
            best = losses.index(min(losses))
            axes.plot(seen[best], losses[best], "o", markersize=9, fillstyle="none", color=colour)
        axes.set_xlabel("training windows seen")
        axes.set_ylabel("validation loss")
        axes.xaxis.set_major_formatter("{x:,.0f}")
        axes.spines[["top", "right"]].set_visible(False)
        axes.legend(frameon=False)
        with replacing(path) as temporary:
            figure.savefig(temporary, format="svg", metadata={"Date": None})


def sentence(training: Training) -> str:
    """Say how a training ended and what it scored."""
    test, majority = training.metrics["test"], training.metrics["baselines"]["training_mean"]
    assert isinstance(majority, dict)
    return (
        f"- **{training.label}**: lowest validation loss {min(training.validation_loss):.4f}; on test "
        f"the direction was right in {test['directional_accuracy']:.1%} of windows (always the training "
        f"majority: {majority['directional_accuracy']:.1%}), "
        f"out-of-sample R2 {test['out_of_sample_r2_score']:+.2%}."
    )


def main(arguments: list[str]) -> None:
    """Draw and print."""
    if len(arguments) < 2 or not all("=" in argument for argument in arguments[1:]):
        sys.exit(__doc__)
    trainings = [read(argument) for argument in arguments[1:]]
    draw(trainings, Path(arguments[0]))
    print("\n".join(map(sentence, trainings)))


if __name__ == "__main__":
    main(sys.argv[1:])
