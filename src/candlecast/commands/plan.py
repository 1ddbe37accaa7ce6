"""`candlecast plan`: which micro-batch fits into memory."""

import argparse
import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from candlecast.settings import Settings
    from candlecast.training.precision import Name


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the budget, the parameters and what else to show."""
    parser.add_argument("--budget", default="8GiB", help="memory to plan for (default: %(default)s)")
    parser.add_argument(
        "--effective-batch", type=int, help="windows in an update (default: as in the parameters)"
    )
    parser.add_argument("--params", type=Path, default=Path("params.yaml"), help="default: %(default)s")
    parser.add_argument("--figure", type=Path, help="also draw memory against micro-batch, as SVG")
    parser.add_argument("--measure", action="store_true", help="on a GPU: put the measured peaks beside it")


def run(arguments: argparse.Namespace) -> None:
    """Print the plan, first for the precision that a training here would have."""
    from candlecast.commands.memory_measure import comparison_table, measure_plan
    from candlecast.features.catalogue import select
    from candlecast.files import write_text
    from candlecast.report.drawing import standalone
    from candlecast.report.memory_figure import memory_figure
    from candlecast.settings import load_settings
    from candlecast.training.config import Recipe
    from candlecast.training.distributed import own_device
    from candlecast.training.memory_plan import PRECISIONS, parse_size, plan_memory
    from candlecast.training.memory_table import plan_table
    from candlecast.training.precision import make_precision
    from candlecast.training.rehearsal import Workload

    settings = load_settings(arguments.params)
    workload = Workload(
        model=settings.model,
        recipe=Recipe(train=settings.train, accum=settings.accum, seed=settings.seed),
        num_features=len(select(settings.features.families)),
        length=settings.windows.length,
    )
    effective_batch = arguments.effective_batch or settings.accum.windows_per_update
    device = own_device(os.environ)
    precision = make_precision(settings.train.precision, device).name
    precisions = tuple(dict.fromkeys((precision, *PRECISIONS)))
    plan = plan_memory(workload, parse_size(arguments.budget), effective_batch, precisions)
    print(_read(arguments.params, settings, precision, device.type))
    print(plan_table(plan))
    if arguments.figure:
        write_text(arguments.figure, standalone(memory_figure(plan)))
    if arguments.measure:
        print(comparison_table(measure_plan(workload, plan)))


def _read(path: Path, settings: "Settings", precision: "Name", device: str) -> str:
    accum, asked = settings.accum, settings.train.precision
    here = f"auto, which is {precision} on this machine's {device}" if asked == "auto" else asked
    steps = "null" if accum.steps is None else accum.steps
    return (
        f"{path} has accum.micro_batch {accum.micro_batch}, accum.steps {steps}, model.width "
        f"{settings.model.width}, windows.length {settings.windows.length}, train.precision {here}."
    )
