"""What a stage's script calls: a context for a training's run, and one for its evaluation.

mlflow takes seconds to import and acts on its settings while it does, so it is imported after `quiet`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, MutableMapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from candlecast.tracking.store import quiet, tracking_store

if TYPE_CHECKING:
    from candlecast.tracking.evaluation import EvaluationLog
    from candlecast.tracking.training import TrainingLog


@contextmanager
def training_run(
    environ: MutableMapping[str, str],
    here: Path,
    params: Mapping[str, Any],
    data_hash: str,
    resume_file: Path | None = None,
) -> Iterator[TrainingLog]:
    """Open a run for one training; yield the observer that writes into it.

    The run ends FINISHED, FAILED after an `Exception`, or KILLED after an interruption. With `resume_file`,
    the run's id is kept there, and a training that starts again goes on in the same run.

    Parameters
    ----------
    here
        The repository's root as the stage sees it: the current folder, a temporary clone included.
    params
        The sections of the parameters that the training depends on, as read.
    data_hash
        Of what the training sees: `identity.folder_hash` of the windows.

    Examples
    --------
    In `pipeline/train.py`::

        params = {name: value for name, value in read_params(PARAMS).items() if name in SECTIONS}
        data_hash = folder_hash(Path("data/windows"))
        with training_run(os.environ, Path.cwd(), params, data_hash) as log:
            result = train(model, ..., observers=[bar, log.observer])
            save_model(Path("data/model"), ...)
            log.files(Path("reports/training"))
            write_run(Path("data/model/run.json"), log.run_id)
    """
    quiet(environ)
    from candlecast.tracking.training import open_training

    store = tracking_store(environ, here)
    with open_training(store, environ, here, params, data_hash, resume_file) as log:
        yield log


@contextmanager
def evaluation_run(
    environ: MutableMapping[str, str], here: Path, params: Mapping[str, Any], run_file: Path
) -> Iterator[EvaluationLog]:
    """Add an evaluation to the run of the training that made the model.

    Where DVC restored the model from an earlier experiment, the evaluation goes to a light run under this
    experiment's own name, which points to the training.

    Parameters
    ----------
    params
        All sections that the training and the evaluation depend on, as read.
    run_file
        `run.json` beside the model.

    Examples
    --------
    In `pipeline/evaluate.py`::

        with evaluation_run(os.environ, Path.cwd(), params, Path("data/model/run.json")) as log:
            log.scores({"test": metrics["test"], "validation": metrics["validation"]})
            log.files(Path("reports/metrics.json"), Path("reports/plots"), Path("reports/report.html"))
    """
    quiet(environ)
    from candlecast.tracking.evaluation import open_evaluation

    with open_evaluation(tracking_store(environ, here), environ, params, run_file) as log:
        yield log
