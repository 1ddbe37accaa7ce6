import subprocess
from pathlib import Path

import pytest
from experiments.clones import commit_all, dvc

from candlecast.studies.experiments import Experiment, add_missing_runs, experiments
from candlecast.tracking.backend import connect
from candlecast.tracking.store import tracking_store


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    identity = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    for arguments in (["init", "--quiet"], ["commit", "--quiet", "--allow-empty", "--message", "first"]):
        subprocess.run(["git", *identity, *arguments], cwd=tmp_path, check=True)
    return tmp_path


def test_experiments_are_found_and_dvc_s_own_references_are_not(repository: Path) -> None:
    head = subprocess.check_output(["git", "rev-parse", "HEAD"], cwd=repository, text=True).strip()
    for ref in (f"{head[:2]}/{head[2:]}/small", "stash", "celery/stash", f"apply/{head[:2]}/{head[2:]}/x"):
        subprocess.run(["git", "update-ref", f"refs/exps/{ref}", head], cwd=repository, check=True)
    assert experiments(repository) == [Experiment("small", head, head)]


def test_a_folder_without_git_has_no_experiments(tmp_path: Path) -> None:
    assert experiments(tmp_path) == []


PIPELINE = """
stages:
  train:
    cmd: sh train.sh
    deps: [train.sh]
    params: [accum.steps]
    outs: [data/model]
  evaluate:
    cmd: echo '{"test":{"mean_absolute_error":0.5},"validation":{},"baselines":{}}' > reports/metrics.json
    deps: [data/model]
    metrics: [reports/metrics.json: {cache: false}]
"""
PARAMS = """
seed: 1
accum: {micro_batch: 4, steps: 3, effective_batch: null}
train: {peak_lr: 1.0e-3, precision: fp32}
"""
TRAIN = """
mkdir -p data/model
echo '{"mlflow_run_id": "0123456789abcdef0123456789abcdef"}' > data/model/run.json
"""


def test_an_experiment_without_a_run_is_given_one_once(repository: Path) -> None:
    dvc(repository, "init", "--quiet")
    (repository / "reports").mkdir()
    (repository / "reports" / ".gitkeep").touch()
    for name, text in {"dvc.yaml": PIPELINE, "params.yaml": PARAMS, "train.sh": TRAIN}.items():
        (repository / name).write_text(text)
    commit_all(repository)
    dvc(repository, "exp", "run", "--temp", "-n", "small", "-S", "accum.steps=1")
    store = tracking_store({}, repository)
    assert add_missing_runs(repository, store) == ["small"]
    assert add_missing_runs(repository, store) == []
    client, experiment = connect(store)
    (run,) = client.search_runs([experiment])
    assert run.info.run_name == "small"
    assert run.info.status == "FINISHED"
    assert run.data.tags["restored.from"] == "0123456789abcdef0123456789abcdef"
    assert run.data.params["accum.steps"] == "1"
    assert run.data.metrics == {"test/mean_absolute_error": 0.5}
