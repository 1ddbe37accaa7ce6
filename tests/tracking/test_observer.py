import time
from pathlib import Path

import psutil
import pytest
from mlflow import MlflowClient
from tracking.records import EFFECTIVE_BATCH, plan, summary, update, validation

from candlecast.tracking.backend import connect
from candlecast.tracking.buffer import MetricBuffer
from candlecast.tracking.observer import MAX_CURVE_POINTS, MLflowObserver
from candlecast.tracking.store import Store
from candlecast.training.records import NoiseEstimate, Outcome, TrainingEvent


@pytest.fixture
def client(store: Store) -> MlflowClient:
    return connect(store)[0]


@pytest.fixture
def run_id(store: Store) -> str:
    client, experiment = connect(store)
    return str(client.create_run(experiment).info.run_id)


def curve(client: MlflowClient, run_id: str, name: str) -> list[tuple[int, float]]:
    return [(point.step, point.value) for point in client.get_metric_history(run_id, name)]


def test_every_point_has_its_samples_beside_it(client: MlflowClient, run_id: str) -> None:
    observer = MLflowObserver(client, run_id)
    observer.on_start(plan())
    observer.on_updates([update(1), update(2)])
    observer.on_updates([update(3)])
    observer.on_validation(validation(3))
    observer.on_end(summary(3))
    samples = dict(curve(client, run_id, "samples_seen"))
    assert samples == {step: EFFECTIVE_BATCH * step for step in (1, 2, 3)}
    for name in client.get_run(run_id).data.metrics:
        steps = {step for step, _ in curve(client, run_id, name)}
        assert steps <= samples.keys() or steps == {0}, name  # a curve, or one total
    assert curve(client, run_id, "train/loss") == [(1, 1.0), (2, 0.5), (3, pytest.approx(1 / 3))]
    assert curve(client, run_id, "val/directional_accuracy") == [(3, 0.52)]
    assert curve(client, run_id, "val/best_update") == [(0, 2)]


def test_the_resolved_plan_becomes_parameters_once(client: MlflowClient, run_id: str) -> None:
    MLflowObserver(client, run_id).on_start(plan(device="cpu"))
    MLflowObserver(client, run_id).on_start(plan(device="cuda", resumed_update=5))
    params = client.get_run(run_id).data.params
    assert params["plan.effective_batch"] == str(EFFECTIVE_BATCH)
    assert params["plan.device"] == "cpu"


def test_a_resumed_training_leaves_no_point_twice(client: MlflowClient, run_id: str) -> None:
    first = MLflowObserver(client, run_id)
    first.on_start(plan())
    first.on_updates([update(number) for number in range(1, 6)])
    first.on_validation(validation(5))
    first.buffer.send()  # then the process is killed; its last checkpoint is at update 3
    second = MLflowObserver(client, run_id)
    second.on_start(plan(resumed_update=3))
    second.on_updates([update(number) for number in range(4, 8)])
    second.on_validation(validation(5))
    second.on_validation(validation(7))
    second.on_end(summary(7))
    assert [step for step, _ in curve(client, run_id, "train/loss")] == [1, 2, 3, 4, 5, 6, 7]
    assert [step for step, _ in curve(client, run_id, "samples_seen")] == [1, 2, 3, 4, 5, 6, 7]
    assert [step for step, _ in curve(client, run_id, "val/loss")] == [5, 7]


def test_points_that_a_killed_process_never_sent_come_with_the_checkpoint(
    client: MlflowClient, run_id: str
) -> None:
    first = MLflowObserver(client, run_id)
    first.on_start(plan())
    first.on_updates([update(1), update(2)])
    first.buffer.send()
    first.on_updates([update(3), update(4)])
    first.on_validation(validation(4))  # then kill -9, with these in the buffer and a checkpoint at 5
    earlier = tuple(update(number) for number in range(1, 6))
    second = MLflowObserver(client, run_id)
    second.on_start(plan(resumed_update=5, earlier_updates=earlier, earlier_validations=(validation(4),)))
    second.on_updates([update(6)])
    second.on_end(summary(6))
    assert [step for step, _ in curve(client, run_id, "train/loss")] == [1, 2, 3, 4, 5, 6]
    assert [step for step, _ in curve(client, run_id, "val/loss")] == [4]


def test_a_validation_between_logged_updates_still_has_its_samples(client: MlflowClient, run_id: str) -> None:
    observer = MLflowObserver(client, run_id)
    observer.on_start(plan(total_updates=3 * MAX_CURVE_POINTS))
    observer.on_updates([update(number) for number in range(1, 9)])
    observer.on_validation(validation(8))
    observer.on_end(summary(8))
    assert [step for step, _ in curve(client, run_id, "train/loss")] == [1, 3, 6, 8]
    assert dict(curve(client, run_id, "samples_seen"))[8] == 8 * EFFECTIVE_BATCH


@pytest.mark.parametrize("total", [2 * MAX_CURVE_POINTS - 1, None])
def test_a_long_training_is_at_most_as_many_points_as_mlflow_draws(
    client: MlflowClient, run_id: str, total: int | None
) -> None:
    observer = MLflowObserver(client, run_id)
    observer.on_start(plan(total_updates=total))
    last = 2 * MAX_CURVE_POINTS - 1
    observer.on_updates([update(number) for number in range(1, last + 1)])
    observer.on_end(summary(last))
    steps = [step for step, _ in curve(client, run_id, "train/loss")]
    assert len(steps) <= MAX_CURVE_POINTS + 1
    assert (steps[0], steps[-1]) == (1, last)
    assert [step for step, _ in curve(client, run_id, "samples_seen")] == steps


@pytest.mark.parametrize("outcome", ["interrupted", "failed"])
def test_totals_come_once_after_the_last_attempt(client: MlflowClient, run_id: str, outcome: Outcome) -> None:
    first = MLflowObserver(client, run_id)
    first.on_start(plan())
    first.on_updates([update(1), update(2)])
    first.on_end(summary(2, outcome))
    assert curve(client, run_id, "total/seconds") == []
    second = MLflowObserver(client, run_id)
    second.on_start(plan(resumed_update=2))
    second.on_updates([update(3)])
    second.on_end(summary(3))
    assert curve(client, run_id, "total/seconds") == [(0, 1.5)]
    assert curve(client, run_id, "val/best_update") == [(0, 2)]


def test_a_training_that_is_over_and_repeated_logs_its_totals_once(client: MlflowClient, run_id: str) -> None:
    for _ in range(2):  # the second after its stage had failed to write the model
        observer = MLflowObserver(client, run_id)
        observer.on_start(plan(resumed_update=2, earlier_updates=(update(1), update(2))))
        observer.on_end(summary(2))
        observer.buffer.send()
    for name in client.get_run(run_id).data.metrics:
        steps = [step for step, _ in curve(client, run_id, name)]
        assert len(steps) == len(set(steps)), name


def test_noise_and_skipped_updates_are_curves_where_they_are_known(client: MlflowClient, run_id: str) -> None:
    observer = MLflowObserver(client, run_id)
    observer.on_start(plan())
    known = NoiseEstimate(trace=9.0, signal=0.5, scale=18.0, low=10.0, high=30.0)
    unknown = NoiseEstimate(trace=9.0, signal=-0.5, scale=None, low=0.0, high=float("inf"))
    observer.on_updates([update(1, noise=unknown), update(2, noise=known, skipped_updates=1)])
    observer.on_end(summary(2))
    assert curve(client, run_id, "train/noise_scale") == [(2, 18.0)]
    assert curve(client, run_id, "train/skipped_updates") == [(2, 1.0)]


def test_events_are_kept_as_a_file(client: MlflowClient, run_id: str) -> None:
    observer = MLflowObserver(client, run_id)
    observer.on_start(plan())
    detail = {"scale": 1024}
    observer.on_event(TrainingEvent(name="skipped_update", update=4, samples_seen=80, detail=detail))
    observer.on_end(summary(4))
    path = Path(client.download_artifacts(run_id, "events/1_from_update_0.jsonl"))
    assert '"name": "skipped_update", "update": 4' in path.read_text()


def test_attempts_from_the_same_checkpoint_each_keep_their_events(client: MlflowClient, run_id: str) -> None:
    for _ in range(2):
        observer = MLflowObserver(client, run_id)
        observer.on_start(plan(resumed_update=3))
        observer.on_event(TrainingEvent(name="memory_ran_out", update=3, samples_seen=60))
        observer.on_end(summary(3, "failed"))
    names = sorted(Path(item.path).name for item in client.list_artifacts(run_id, "events"))
    assert names == ["1_from_update_3.jsonl", "2_from_update_3.jsonl"]


def test_points_wait_for_company_and_not_for_long(client: MlflowClient, run_id: str) -> None:
    now = 0.0
    buffer = MetricBuffer(client, run_id, seconds=3.0, clock=lambda: now)
    observer = MLflowObserver(client, run_id, buffer)
    observer.on_updates([update(1)])
    assert curve(client, run_id, "train/loss") == []
    now = 3.0
    observer.on_updates([update(2)])
    assert len(curve(client, run_id, "train/loss")) == 2
    observer.on_updates([update(number) for number in range(3, 200)])  # more than one call carries
    assert len(curve(client, run_id, "train/loss")) == 199


def test_processor_time_is_shared_out_over_updates_that_are_told_together(
    client: MlflowClient, run_id: str
) -> None:
    observer = MLflowObserver(client, run_id)
    observer.on_start(plan())
    for first in (1, 6):
        busy_until = time.process_time() + 0.05
        while time.process_time() < busy_until:
            pass
        observer.on_updates([update(number) for number in range(first, first + 5)])
    observer.on_end(summary(10))
    used = curve(client, run_id, "system/cpu_percent")
    assert [step for step, _ in used] == [5, 10]
    assert all(0 < share <= 100 * psutil.cpu_count() * 1.5 for _, share in used), used
