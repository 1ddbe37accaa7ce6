"""`candlecast study run`: both phases of a study, on this machine or others, or what they would do."""

import math
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol, TextIO

from candlecast.errors import StudyError
from candlecast.params import read_params
from candlecast.studies.board import span
from candlecast.studies.cells import Cell, check_cell, confirmation_cells, tuning_cells
from candlecast.studies.choice import Means, check_inside, choose, mean_losses, means_table
from candlecast.studies.dvc_queue import Queue
from candlecast.studies.fingerprint import Fingerprints
from candlecast.studies.ledger import Ledger
from candlecast.studies.options import Options
from candlecast.studies.pools import Pool, RayPool, SlurmPool
from candlecast.studies.ready import check_ready
from candlecast.studies.remote_run import RemoteRunner, find_origin
from candlecast.studies.run import Runner
from candlecast.studies.study import TUNING_METRIC, Study
from candlecast.studies.survey import Place, known_seconds, survey
from candlecast.tracking.store import tracking_store
from candlecast.tracking.studies import CellRun, open_study


class CellRunner(Protocol):
    """Brings cells to their end."""

    def run(self, cells: Sequence[Cell]) -> dict[str, CellRun]:
        """Return the run of every cell, or raise `StudyError` when some failed."""


def open_place(root: Path, study: Study, environ: Mapping[str, str]) -> Place:
    """Return all that is known of a study in a repository; makes the tracking store ready.

    Raises
    ------
    ParamsError
        A cell's parameters are wrong, alone or together.
    """
    params = read_params(root / "params.yaml")
    first = dict.fromkeys(study.arms, study.tuning.values[0])
    for cell in [*tuning_cells(study), *confirmation_cells(study, first)]:
        check_cell(cell, params)
    log = open_study(tracking_store(environ, root), study.name, study.question, study.prediction)
    return Place(
        root, study.threads, params, log, Ledger(root, study.name), Fingerprints(root, params, study.threads)
    )


def run_study(root: Path, study: Study, options: Options, environ: Mapping[str, str], stream: TextIO) -> None:
    """Tune each arm, choose, and confirm: whatever of it is not done yet."""
    check_ready(root)
    place = open_place(root, study, environ)
    runner = _runner(place, options, environ, stream)
    tuning = tuning_cells(study)
    place.log.close(complete=False)
    done = survey(place, tuning, ()).done if options.phase == "confirmation" else runner.run(tuning)
    means = mean_losses(study, tuning, _losses(done))
    chosen = _choose(study, means, place, stream, options)
    if options.phase == "tuning":
        return
    cells = confirmation_cells(study, chosen)
    _close_earlier(place, cells, stream)
    runner.run(cells)
    place.log.close(complete=True)
    stream.write(f"{study.name}: all {len(tuning) + len(cells)} cells are done\n")


def _runner(place: Place, options: Options, environ: Mapping[str, str], stream: TextIO) -> CellRunner:
    variables = cell_variables(place.threads)
    if options.executor == "local":
        return Runner(place, Queue(place.root, {**environ, **variables}), options.jobs, stream)
    server = environ.get("MLFLOW_TRACKING_URI", "")
    if not server.startswith(("http://", "https://")):
        raise StudyError(
            f"--executor {options.executor}: other machines need a server to log to; set "
            "MLFLOW_TRACKING_URI to its address, http://..."
        )
    origin = find_origin(place.root, options.git_remote)
    pool: Pool
    if options.executor == "ray":
        pool = RayPool(options.address, place.threads)
    else:
        pool = SlurmPool(place.root / ".cache" / "studies" / "slurm", place.threads, options.slurm)
    return RemoteRunner(
        place, pool, origin, {**variables, "MLFLOW_TRACKING_URI": server}, options.jobs, stream
    )


def _losses(runs: Mapping[str, CellRun]) -> dict[str, float]:
    losses = {name: run.metrics[TUNING_METRIC] for name, run in runs.items() if TUNING_METRIC in run.metrics}
    return losses | {name: math.inf for name, run in runs.items() if run.divergence}


def _choose(study: Study, means: Means, place: Place, stream: TextIO, options: Options) -> dict[str, float]:
    chosen = choose(study, means)
    stream.write(means_table(study, means, chosen) + "\n")
    place.log.describe({f"candlecast.chosen.{arm}": str(value) for arm, value in chosen.items()})
    try:
        check_inside(study, chosen)
    except StudyError as error:
        if not options.accept_edge:
            raise
        place.log.describe({"candlecast.edge": str(error)})
        stream.write(f"accepted: {error}\n")
    return chosen


def _close_earlier(place: Place, cells: Sequence[Cell], stream: TextIO) -> None:
    # The test span is opened once an arm; what was confirmed at another value no longer belongs to the study.
    names = {cell.name for cell in cells}
    earlier = {name: run for name, run in place.log.confirmed().items() if name not in names}
    if earlier:
        stream.write(
            f"{len(earlier)} cells were confirmed at another value, {next(iter(earlier))} first, so the test "
            "span is opened again for their arms; the parent run says so\n"
        )
        place.log.describe({"candlecast.opened_again": ", ".join(sorted(earlier))[:5000]})
        for run in earlier.values():
            place.log.supersede(run.run_id)


def describe_study(root: Path, study: Study, options: Options, environ: Mapping[str, str]) -> str:
    """Return what `run_study` would do: cells, their commands, and how long it may take."""
    place = open_place(root, study, environ)
    tuning = tuning_cells(study)
    state = survey(place, tuning, ())
    cells = [cell for cell in tuning if options.phase != "confirmation" and cell.name not in state.done]
    seconds = known_seconds(state.done.values())
    lines = [f"{study.name}: {len(tuning)} tuning cells, {len(state.done)} of them done"]
    later = len(study.arms) * len(study.seeds)
    if options.phase != "tuning":
        losses = _losses(state.done)
        if all(cell.name in losses for cell in tuning):
            confirmation = confirmation_cells(study, choose(study, mean_losses(study, tuning, losses)))
            done = survey(place, confirmation, ()).done
            seconds += known_seconds(done.values())
            cells += [cell for cell in confirmation if cell.name not in done]
            later = 0
            lines.append(f"{len(confirmation)} confirmation cells, {len(done)} of them done")
        else:
            lines.append(f"{later} confirmation cells, at the values that tuning will choose")
    else:
        later = 0
    lines += [command(cell) for cell in cells]
    lines.append(f"OMP_NUM_THREADS={study.threads} dvc queue start --jobs {options.jobs}")
    if seconds:
        total = (len(cells) + later) * sum(seconds) / len(seconds) / options.jobs
        lines.append(f"about {span(total)}, from {len(seconds)} cells that are done")
    else:
        lines.append("how long a cell takes is unknown until one is done")
    return "\n".join(lines)


def command(cell: Cell) -> str:
    """Return the command that queues a cell by hand."""
    words = ["dvc", "exp", "run", "--queue", "-n", cell.name]
    for assignment in cell.assignments():
        words += ["-S", assignment]
    return shlex.join([*words, *cell.targets])


def cell_variables(threads: int) -> dict[str, str]:
    """Return what a cell's environment sets: sums over other numbers of threads may round otherwise."""
    names = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")
    return {**dict.fromkeys(names, str(threads)), "DVC_NO_ANALYTICS": "1"}
