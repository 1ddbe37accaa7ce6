"""The command line of `candlecast study`. Imports nothing heavy, since all parsers are made each time."""

import argparse
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from candlecast.errors import StudyError


@dataclass(frozen=True, slots=True)
class Options:
    """How a study is run."""

    jobs: int = 1
    phase: Literal["tuning", "confirmation", "all"] = "all"
    accept_edge: bool = False
    executor: Literal["local", "ray", "slurm"] = "local"
    address: str = "auto"  # of the Ray cluster
    git_remote: str = "origin"  # that other machines clone from and push to
    slurm: Mapping[str, str] = field(default_factory=dict)  # what sbatch is told beside it


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of `candlecast study` to its parser."""
    parser.description = (
        "Run a study: tune every arm on validation, then confirm each at its best value over paired seeds. "
        "What is done stays done; what failed, was lost or has changed is run again."
    )
    parser.add_argument("action", choices=["run"], help="run: from where it stands to its end")
    parser.add_argument("study", type=Path, help="its YAML, such as experiments/001-accumulation.yaml")
    parser.add_argument("--jobs", type=int, default=1, help="cells at a time (default: %(default)s)")
    parser.add_argument("--phase", choices=["tuning", "confirmation", "all"], default="all")
    parser.add_argument("--dry-run", action="store_true", help="print cells, commands and cost, run nothing")
    parser.add_argument(
        "--accept-edge", action="store_true", help="confirm also where an optimum lies at the grid's edge"
    )
    elsewhere = parser.add_argument_group("on other machines", "see docs/beyond-one-machine.md")
    elsewhere.add_argument("--executor", choices=["local", "ray", "slurm"], default="local")
    elsewhere.add_argument("--address", default="auto", help="of the Ray cluster (default: %(default)s)")
    elsewhere.add_argument(
        "--git-remote", default="origin", help="that they clone and push to (default: %(default)s)"
    )
    elsewhere.add_argument(
        "--slurm-option",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="of sbatch, e.g. partition=gpu",
    )


def parse_options(arguments: argparse.Namespace) -> Options:
    """Return the options as given, or raise `StudyError` naming the one that is wrong."""
    if arguments.jobs < 1:
        raise StudyError(f"--jobs: {arguments.jobs} is not at least 1")
    pairs = [option.partition("=") for option in arguments.slurm_option]
    for key, equals, value in pairs:
        if not (key and equals and value):
            raise StudyError(f"--slurm-option: {key}{equals}{value} is not KEY=VALUE")
    return Options(
        jobs=arguments.jobs,
        phase=arguments.phase,
        accept_edge=arguments.accept_edge,
        executor=arguments.executor,
        address=arguments.address,
        git_remote=arguments.git_remote,
        slurm={key: value for key, _, value in pairs},
    )
