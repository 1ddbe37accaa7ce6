"""A training's observer that writes to MLflow: step is the update, and samples seen lie beside each point.

Any run can so be drawn against updates, samples, epochs or seconds: MLflow takes any metric of the same step
as the horizontal axis.
"""

import json
import logging
import resource
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict

import psutil
from mlflow import MlflowClient
from mlflow.entities import Metric, Param

from candlecast.tracking.buffer import AWAY, MetricBuffer
from candlecast.tracking.identity import first_line
from candlecast.training.records import (
    TrainingEvent,
    TrainingPlan,
    TrainingSummary,
    UpdateRecord,
    ValidationRecord,
)

# MLflow draws at most about 320 points of a curve; over samples seen it would drop validations beyond that.
MAX_CURVE_POINTS = 200

# What the parameters leave open, as the plan resolved it.
RESOLVED = (
    "parameters",
    "training_windows",
    "validation_windows",
    "effective_batch",
    "micro_batch",
    "total_updates",
    "precision",
    "device",
    "processes",
)

logger = logging.getLogger(__name__)


class MLflowObserver:
    """Writes one training into one run; implements `candlecast.training.records.Observer`.

    A run that is continued already holds points up to some update, and its totals where the training itself
    was over. What a resumed training repeats is left out, since MLflow would keep both. `name_of` gives the
    run its name once the plan is known; a name that someone else gave stays. `announce` hears the name then.
    """

    def __init__(
        self,
        client: MlflowClient,
        run_id: str,
        buffer: MetricBuffer | None = None,
        name_of: Callable[[TrainingPlan | None], str] | None = None,
        announce: Callable[[str], None] = lambda name: None,
    ) -> None:
        self.run_id = run_id
        self._name_of = name_of
        self._announce = announce
        self.buffer = buffer or MetricBuffer(client, run_id)
        self._client = client
        self._process = psutil.Process()
        self._process.cpu_percent()  # from here on
        self._events: list[TrainingEvent] = []
        self._every = 1
        self._resumed = 0
        self._newest: UpdateRecord | None = None
        self._logged = self._last_step("samples_seen")
        self._validated = self._last_step("val/loss")
        self._over = bool(client.get_metric_history(run_id, "total/seconds"))

    def on_start(self, plan: TrainingPlan) -> None:
        """Log what the parameters leave open: the sizes, precision and device that were resolved."""
        self._every = -(-(plan.total_updates or 0) // MAX_CURVE_POINTS)
        self._resumed = plan.resumed_update
        self._log_plan(plan)
        updates = list(plan.earlier_updates)
        for validation in plan.earlier_validations:  # a killed process may not have sent them
            before = [record for record in updates if record.update <= validation.update]
            updates = updates[len(before) :]
            self.on_updates(before)
            self.on_validation(validation)
        self.on_updates(updates)

    def _log_plan(self, plan: TrainingPlan) -> None:
        values = {f"plan.{name}": str(getattr(plan, name)) for name in RESOLVED}
        try:
            run = self._client.get_run(self.run_id)
            name = str(run.info.run_name)
            if self._name_of is not None and name == self._name_of(None):
                name = self._name_of(plan)
                self._client.update_run(self.run_id, name=name)
            self._announce(name)
            new = [Param(name, value) for name, value in values.items() if name not in run.data.params]
            self._client.log_batch(self.run_id, params=new)
        except AWAY as error:
            logger.warning("the resolved sizes are not in the tracking store: %s", first_line(error))

    def on_updates(self, records: Sequence[UpdateRecord]) -> None:
        """Add the updates that the run does not hold yet, and what the process took for them, at the last."""
        before = self._logged
        for record in records:
            if record.update > self._logged:
                self._newest = record
                # Where the end is unknown, 16 points for each doubling of the updates.
                every = self._every or 1 << max(0, record.update.bit_length() - 5)
                if record.update % every == 0 or record.update == 1:
                    self._add_update(record)
        if self._logged > before:
            self._add_usage(self._logged)
        self.buffer.send_if_due()

    def on_validation(self, record: ValidationRecord) -> None:
        """Add the validation's scores, at the same step as the update they follow, and send."""
        if record.update <= self._validated:
            return
        self._validated = record.update
        if self._newest is not None and self._newest.update == record.update:
            self._add_update(self._newest)
        elif record.update > self._logged:
            self._logged = record.update
            self.buffer.add({"samples_seen": record.samples_seen}, record.update)
        scores = {
            "val/loss": record.loss,
            "val/return_rmse_error": record.return_rmse_error,
            "val/directional_accuracy": record.directional_accuracy,
        }
        self.buffer.add(scores, record.update)
        self.buffer.send_if_due()

    def on_event(self, event: TrainingEvent) -> None:
        """Keep the event for the run's `events` file, and count it."""
        self._events.append(event)

    def on_end(self, summary: TrainingSummary) -> None:
        """Add the totals, and send everything."""
        if self._newest is not None:
            self._add_update(self._newest)
        # What failed or was interrupted may continue, and would log them again at the same step; a training
        # that is over is repeated too, from its last checkpoint, where its stage failed afterwards.
        if summary.outcome in ("finished", "stopped_early") and not self._over:
            self._over = True
            self._add_totals(summary)
        if self.buffer.send() and self._events:
            self._write_events()

    def _add_totals(self, summary: TrainingSummary) -> None:
        totals = {
            "total/seconds": summary.seconds,
            "total/samples_seen": summary.samples_seen,
            "total/skipped_updates": summary.skipped_updates,
            "total/peak_memory_mib": _peak_memory(),
        }
        if summary.best_loss is not None and summary.best_update is not None:
            totals |= {"val/best_loss": summary.best_loss, "val/best_update": summary.best_update}
        self.buffer.add(totals, 0)  # MLflow draws a single point at step 0 as a bar

    def _add_update(self, record: UpdateRecord) -> None:
        if record.update <= self._logged:
            return
        self._logged = record.update
        values = {
            "train/loss": record.loss,
            "train/grad_norm": record.grad_norm,
            "train/lr": record.lr,
            "train/windows_per_second": record.windows_per_second,
            "samples_seen": record.samples_seen,
            "epoch": record.epoch,
            "seconds": record.seconds,
        }
        if record.noise is not None and record.noise.scale is not None:
            values["train/noise_scale"] = record.noise.scale
        if record.skipped_updates:
            values["train/skipped_updates"] = record.skipped_updates
        self.buffer.add(values, record.update)

    def _add_usage(self, update: int) -> None:
        # Updates come many at once, and between two of them no time has passed: a share of nothing.
        usage = {
            "system/cpu_percent": self._process.cpu_percent(),  # since the call before; 100 is one core
            "system/memory_mib": self._process.memory_info().rss / 1024**2,
        }
        self.buffer.add(usage, update)

    def _write_events(self) -> None:
        lines = "\n".join(json.dumps(asdict(event)) for event in self._events)
        try:
            attempt = len(self._client.list_artifacts(self.run_id, "events")) + 1
            name = f"events/{attempt}_from_update_{self._resumed}.jsonl"
            self._client.log_text(self.run_id, f"{lines}\n", name)
        except AWAY as error:
            logger.warning("the training's events were not stored: %s", first_line(error))

    def _last_step(self, name: str) -> int:
        history: list[Metric] = self._client.get_metric_history(self.run_id, name)
        return max((point.step for point in history), default=0)


def _peak_memory() -> float:
    # Of this process, in MiB: Linux counts in KiB, macOS in bytes.
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1024**2 if sys.platform == "darwin" else 1024)
