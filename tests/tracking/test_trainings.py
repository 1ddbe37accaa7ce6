from contextlib import suppress
from pathlib import Path

import pytest
from tracking.records import plan, summary, update

from candlecast.tracking.run_file import write_run
from candlecast.tracking.session import evaluation_run, training_run
from candlecast.tracking.store import Store

PARAMS = {
    "seed": 1,
    "accum": {"micro_batch": 4, "steps": 2, "effective_batch": None},
    "train": {"precision": "fp32", "peak_lr": 1e-3},
}


def train(store: Store, fault: Exception | None = None) -> str:
    with suppress(RuntimeError), training_run({}, store.root, PARAMS, "d" * 64, None) as log:
        log.observer.on_start(plan())
        log.observer.on_updates([update(1)])
        log.observer.on_end(summary(1))
        if fault:
            raise fault
    return log.run_id


def counted(store: Store, run_id: str, environ: dict[str, str], folder: Path) -> int:
    write_run(folder / "run.json", run_id)
    with evaluation_run(environ, store.root, PARAMS, folder / "run.json") as log:
        return log.trainings()


def test_every_finished_training_counts_and_a_failed_one_does_not(store: Store, tmp_path: Path) -> None:
    first = train(store)
    assert counted(store, first, {}, tmp_path) == 1
    train(store)
    train(store, RuntimeError("diverged"))
    assert counted(store, first, {}, tmp_path) == 2


def test_an_experiment_restored_from_the_cache_is_no_further_training(store: Store, tmp_path: Path) -> None:
    first = train(store)
    restored = {"DVC_EXP_NAME": "again", "DVC_EXP_BASELINE_REV": "abc"}
    counted(store, first, restored, tmp_path)
    assert counted(store, first, {}, tmp_path) == 1


def test_a_store_that_went_away_counts_this_training(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_id = train(store)
    write_run(tmp_path / "run.json", run_id)
    with evaluation_run({}, store.root, PARAMS, tmp_path / "run.json") as log:

        def away(*_: object, **__: object) -> None:
            raise OSError("no answer")

        monkeypatch.setattr(log.client, "get_run", away)
        assert log.trainings() == 1
