"""DVC's experiments, and a run in MLflow for each of them.

An experiment whose every stage DVC restored from its cache ran no command, so nothing was logged for it.
"""

import json
import logging
import re
from collections.abc import Collection
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from candlecast.errors import StudyError
from candlecast.tracking.identity import git
from candlecast.tracking.restored import complete_stand_in, find_experiment
from candlecast.tracking.store import Store

# Others below refs/exps are DVC's own: what is queued, what was applied.
_REF = re.compile(r"refs/exps/([0-9a-f]{2})/([0-9a-f]{38})/([^/]+) ([0-9a-f]{40})")

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Experiment:
    """A finished DVC experiment: its name, the commit it started from, the commit of its results."""

    name: str
    baseline: str
    commit: str


def experiments(root: Path) -> list[Experiment]:
    """Return the experiments of a repository; none where there is no git.

    They are read from git's references: DVC's own list would wait for the lock of a running pipeline.
    """
    listed = git(root, "for-each-ref", "refs/exps", "--format=%(refname) %(objectname)") or ""
    found = (_REF.fullmatch(line) for line in listed.splitlines())
    return [Experiment(ref[3], ref[1] + ref[2], ref[4]) for ref in found if ref is not None]


def remove_experiments(root: Path, names: Collection[str]) -> None:
    """Remove the experiments of these names, whatever commit they started from."""
    for experiment in experiments(root):
        if experiment.name in names:
            start = experiment.baseline
            reference = f"refs/exps/{start[:2]}/{start[2:]}/{experiment.name}"
            if git(root, "update-ref", "-d", reference) is None:
                raise StudyError(f"{reference}: git does not remove it; see: git update-ref -d {reference}")


def add_missing_runs(root: Path, store: Store) -> list[str]:
    """Give each experiment that MLflow does not know a light run under its name; return those names."""
    from candlecast.tracking.backend import connect

    client, experiment_id = connect(store)
    added = []
    for experiment in experiments(root):
        if find_experiment(client, experiment_id, experiment.name, experiment.baseline) is not None:
            continue
        try:
            run_id = json.loads(read_at(root, experiment, "data/model/run.json"))["mlflow_run_id"]
            params: dict[str, Any] = YAML(typ="safe").load(StringIO(read_at(root, experiment, "params.yaml")))
            metrics = json.loads(read_at(root, experiment, "reports/metrics.json"))
        except (OSError, ValueError, KeyError) as error:
            logger.warning("experiment %s has no results to show: %s", experiment.name, error)
            continue
        tags = {"dvc.experiment": experiment.name, "dvc.baseline": experiment.baseline}
        scores = {part: metrics[part] for part in ("validation", "test")}
        complete_stand_in(client, experiment_id, run_id, params, tags, scores)
        added.append(experiment.name)
    return added


def read_at(root: Path, experiment: Experiment, path: str) -> str:
    """Return a text file as an experiment left it, from git or from DVC's cache; `OSError` without it."""
    import dvc.api  # takes a second, and is needed for restored experiments only
    from dvc.exceptions import DvcException

    try:
        text: str = dvc.api.read(path, repo=str(root), rev=experiment.commit)
    except DvcException as error:
        raise FileNotFoundError(f"{path} of experiment {experiment.name}: {error}") from None
    return text
