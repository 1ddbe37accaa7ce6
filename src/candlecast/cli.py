"""The command line. A command is a row of the table; what it needs is imported when it runs."""

import argparse
import os
import shlex
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from candlecast.commands import plan, predict, runs, ui
from candlecast.commands.place import repository_root
from candlecast.errors import CandlecastError, EvaluationError
from candlecast.stage import run_stage
from candlecast.studies.options import add_options, parse_options

Arguments = argparse.Namespace


@dataclass(frozen=True, slots=True)
class Command:
    """A sub-command: its name, what it does in a line, its options, and the function that runs it."""

    name: str
    summary: str
    add_options: Callable[[argparse.ArgumentParser], None]
    run: Callable[[Arguments], None]


def _pin_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--params", type=Path, default=Path("params.yaml"), help="default: %(default)s")


def _pin(arguments: Arguments) -> None:
    from candlecast.commands.pin import pin_end

    print(f"data.end is {pin_end(arguments.params)}, the latest complete session")


def _diff_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("old", type=Path, help="an earlier bars.parquet, e.g. from dvc get --rev")
    parser.add_argument("new", type=Path, nargs="?", default=Path("data/raw/bars.parquet"))


def _diff(arguments: Arguments) -> None:
    from candlecast.data.revision import compare_bars
    from candlecast.data.snapshot import read_bars

    revisions = compare_bars(read_bars(arguments.old), read_bars(arguments.new))
    print("\n".join(map(str, revisions)) or "no bar that both hold differs")


def _audit_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--params", type=Path, default=Path("params.yaml"), help="(default: %(default)s)")
    parser.add_argument(
        "--data", type=Path, default=Path("data/raw"), help="the snapshot (default: %(default)s)"
    )
    parser.add_argument(
        "--output",
        type=Path,
        default=Path("reports/audit.json"),
        help="for the report (default: %(default)s)",
    )


def _audit(arguments: Arguments) -> None:
    from candlecast.data.manifest import read_manifest
    from candlecast.evaluation.run_audit import AuditInputs, run_audit
    from candlecast.schema import BARS, read_frame
    from candlecast.settings import load_settings

    settings = load_settings(arguments.params)
    inputs = AuditInputs(
        bars=read_frame(arguments.data / "bars.parquet", BARS),
        manifest=read_manifest(arguments.data / "manifest.json"),
        features=settings.features,
        windows=settings.windows,
        model=settings.model,
        seed=settings.seed,
    )
    audit = run_audit(inputs, lambda area: print(f"{area} ...", file=sys.stderr))
    audit.save(arguments.output)
    print("\n".join(audit.lines()))
    if audit.findings:
        raise EvaluationError(audit.summary)
    print(audit.summary)


def _pool_options(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Pool the folds of one walk-forward, each day of their test spans once, and judge them as one span. "
        "Run them with: dvc exp run --queue -S windows.folds=N -S 'windows.fold=range(0,N)'; dvc queue start"
    )
    parser.add_argument(
        "revision",
        nargs="+",
        help="the run of a fold: a folder, or an experiment, branch, tag or commit; one for each fold",
    )
    parser.add_argument(
        "--output",
        type=Path,
        default=Path("reports/walk_forward.md"),
        help="what is printed; the numbers go beside it as .json (default: %(default)s)",
    )


def _pool(arguments: Arguments) -> None:
    from candlecast.evaluation.assess import write_assessment
    from candlecast.files import write_text
    from candlecast.studies.pool import pool_runs, pooled_text
    from candlecast.tracking.evaluation import count_trainings
    from candlecast.tracking.store import quiet, tracking_store

    quiet(os.environ)
    root = repository_root(Path.cwd())
    pooled = pool_runs(root, arguments.revision, count_trainings(tracking_store(os.environ, root)))
    text = pooled_text(pooled)
    write_text(arguments.output, text)
    write_assessment(arguments.output.with_suffix(".json"), pooled.assessment)
    print(text, end="")


def _study(arguments: Arguments) -> None:
    from candlecast.studies.study import load_study
    from candlecast.tracking.store import quiet

    quiet(os.environ)
    from candlecast.studies.command import describe_study, run_study

    root, options = repository_root(Path.cwd()), parse_options(arguments)
    study = load_study(arguments.study)
    # Stages call python and dvc, which are those of this environment.
    environ = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"}
    if arguments.dry_run:
        print(describe_study(root, study, options, environ))
    else:
        run_study(root, study, options, environ, sys.stdout)


def _compare_options(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Lay trainings side by side, paired by seed and fold. Reads the tracking store alone: it does not "
        "matter on which machine a run was made."
    )
    parser.add_argument(
        "what",
        nargs="*",
        help="a study, as its YAML file or its name in experiments/; or runs, each by its id, its DVC "
        "experiment or its name. The arm of the first run is what the others are set against",
    )
    parser.add_argument(
        "--filter", help="runs that MLflow's filter lets through, e.g. \"params.`accum.steps` = '8'\""
    )
    parser.add_argument("--name", default="comparison", help="of a set of runs (default: %(default)s)")
    parser.add_argument("--output", type=Path, help="folder (default: reports/studies/<name>)")
    parser.add_argument("--findings", type=Path, help="also write the Markdown here, e.g. beside the study")
    parser.add_argument(
        "--confidence", type=float, default=0.95, help="of intervals, outside a study (default: %(default)s)"
    )


def _compare(arguments: Arguments) -> None:
    from candlecast.tracking.store import quiet, tracking_store

    quiet(os.environ)
    from candlecast.studies.compare import Request, compare

    if not arguments.what and not arguments.filter:
        raise CandlecastError("compare: name a study or runs, or give --filter; candlecast compare --help")
    root = repository_root(Path.cwd())
    request = Request(
        what=arguments.what,
        query=arguments.filter,
        name=arguments.name,
        confidence=arguments.confidence,
        folder=arguments.output,
        findings=arguments.findings,
        command=" ".join(["candlecast compare", *map(shlex.quote, sys.argv[2:])]),
    )
    print("\n".join(compare(root, tracking_store(os.environ, root), request)))


COMMANDS = (
    Command(
        "plan",
        "say which micro-batch fits into memory, without a GPU and without trying",
        plan.add_options,
        plan.run,
    ),
    Command(
        "audit",
        "look for ways in which the future could leak into a forecast; status 1 when one is found",
        _audit_options,
        _audit,
    ),
    Command("study", "run a study: its grid of experiments, resumed where it stopped", add_options, _study),
    Command("pool", "judge the folds of one walk-forward as one test span", _pool_options, _pool),
    Command("predict", "forecast from the latest bars, or from a file", predict.add_options, predict.run),
    Command("compare", "lay a study's arms, or any runs, side by side", _compare_options, _compare),
    Command("ui", "open the tracking store in MLflow, on loopback", ui.add_options, ui.run),
    Command(
        "open",
        "find the MLflow run of a DVC experiment, or its experiment",
        runs.open_options,
        runs.run_open,
    ),
    Command(
        "promote",
        "make a model the champion, if its test span allows it",
        runs.promote_options,
        runs.run_promote,
    ),
    Command("pin-end", "set data.end in params.yaml to the latest complete session", _pin_options, _pin),
    Command("diff-bars", "say how the vendor changed bars between two snapshots", _diff_options, _diff),
)


def build_parser(commands: Sequence[Command] = COMMANDS) -> argparse.ArgumentParser:
    """Return the parser of all commands."""
    parser = argparse.ArgumentParser(prog="candlecast", description="Forecast returns, compare trainings.")
    choices = parser.add_subparsers(metavar="command", required=True)
    for command in commands:
        sub = choices.add_parser(command.name, help=command.summary, description=command.summary)
        command.add_options(sub)
        sub.set_defaults(run=command.run)
    return parser


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command that `arguments`, or the process's own, name."""
    parsed = build_parser().parse_args(arguments)
    run_stage(lambda: parsed.run(parsed))
