"""An evaluation's part of a run: test scores, figures, the report."""

import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from mlflow import MlflowClient

from candlecast.tracking.artifacts import log_files
from candlecast.tracking.backend import answering, connect
from candlecast.tracking.buffer import AWAY
from candlecast.tracking.comparable import SPAN, read_daily_losses
from candlecast.tracking.entries import log_scores
from candlecast.tracking.identity import dvc_tags, first_line
from candlecast.tracking.pending import deliver
from candlecast.tracking.restored import RESTORED, find, is_of_experiment, stand_in
from candlecast.tracking.run_file import read_run
from candlecast.tracking.search import search
from candlecast.tracking.store import ROLE, Store

logger = logging.getLogger(__name__)


class EvaluationLog:
    """The run an evaluation writes into."""

    def __init__(self, client: MlflowClient, run_id: str) -> None:
        self.run_id = run_id
        self.client = client

    def scores(self, parts: Mapping[str, Mapping[str, float]]) -> None:
        """Store scores as `part/name`, such as `test/directional_accuracy`.

        An evaluation that runs again and finds the same leaves no second point.
        """
        try:
            log_scores(self.client, self.run_id, parts)
        except AWAY as error:
            logger.warning("the scores are not in the tracking store: %s", first_line(error))

    def trainings(self) -> int:
        """Return how many finished trainings the store holds, this one included: what it was chosen from.

        An experiment whose training DVC restored is no further one. A store that is away counts as 1.
        """
        try:
            experiment = self.client.get_run(self.run_id).info.experiment_id
            return max(_count_finished(self.client, experiment), 1)
        except AWAY as error:
            logger.warning("the trainings in the tracking store are not counted: %s", first_line(error))
            return 1

    def daily_losses_of_others(self, span: str) -> dict[str, str]:
        """Mark the run as judged on this span, and return run -> daily losses of the others judged on it.

        A store that is away has none.

        Parameters
        ----------
        span
            `evaluation.days.span_digest` of the windows judged.
        """
        try:
            self.client.set_tag(self.run_id, SPAN, span)
            return read_daily_losses(self.client, self.client.get_run(self.run_id), span)
        except AWAY as error:
            logger.warning("other runs in the tracking store are not compared: %s", first_line(error))
            return {}

    def files(self, *paths: Path) -> None:
        """Store files and folders as the run's artifacts, each under its own name."""
        log_files(self.client, self.run_id, paths)


@contextmanager
def open_evaluation(
    store: Store, environ: Mapping[str, str], params: Mapping[str, Any], run_file: Path
) -> Iterator[EvaluationLog]:
    """Do what `session.evaluation_run` describes, in `store`."""
    source_id = read_run(run_file)
    client, experiment = connect(store)
    tags = dvc_tags(environ)
    with answering(store):
        deliver(client, store.root)
        trained = find(client, source_id)
        own = trained is not None and is_of_experiment(trained, tags)
        run_id = source_id if own else stand_in(client, experiment, source_id, params, tags)
    if own:
        yield EvaluationLog(client, run_id)
        return
    logger.info("the model was restored from MLflow run %s; run %s stands for it", source_id, run_id)
    status = "FAILED"
    try:
        yield EvaluationLog(client, run_id)
        status = "FINISHED"
    finally:
        client.set_terminated(run_id, status)


def count_trainings(store: Store) -> int:
    """Return how many finished trainings the store holds; none is restored by DVC and counted twice."""
    client, experiment = connect(store)
    with answering(store):
        return _count_finished(client, experiment)


def _count_finished(client: MlflowClient, experiment: str) -> int:
    finished = search(client, experiment, "attributes.status = 'FINISHED'")
    return sum(not {RESTORED, ROLE} & run.data.tags.keys() for run in finished)
