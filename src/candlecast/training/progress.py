"""Progress for a person: a bar on a terminal, plain lines elsewhere."""

import sys
from collections import deque
from collections.abc import Sequence
from typing import Any, TextIO

from tqdm import tqdm

from candlecast.training.records import (
    TrainingEvent,
    TrainingPlan,
    TrainingSummary,
    UpdateRecord,
    ValidationRecord,
)

LINES = 20  # of progress in a log file, whatever the length of the training
LOOK_BACK = 5  # lines whose mean speed tells the time left: a validation, or a busy moment, is a part of it
SMOOTHING = 0.05  # weight of the newest speed in the bar's mean


class Progress:
    """An observer that shows loss, learning rate, windows per second and the time left."""

    def __init__(self, stream: TextIO | None = None) -> None:
        """Write to `stream`, or to standard error."""
        self._stream = sys.stderr if stream is None else stream
        self._bar: Any = None  # tqdm ships no types
        self._plan: TrainingPlan | None = None
        self._shown: deque[tuple[float, int]] = deque(maxlen=LOOK_BACK + 1)  # seconds, windows; a line each

    def on_start(self, plan: TrainingPlan) -> None:
        """Say what is about to happen; open the bar."""
        self._plan = plan
        earlier = plan.earlier_updates[-1].seconds if plan.earlier_updates else 0.0
        self._shown.clear()
        self._shown.append((earlier, plan.resumed_samples))
        steps = -(-plan.effective_batch // plan.micro_batch)
        resumed = f", resumed at update {plan.resumed_update}" if plan.resumed_update else ""
        self._say(
            f"training {plan.parameters:,} parameters on {plan.training_windows:,} windows: "
            f"{plan.micro_batch} x {steps} = {plan.effective_batch} windows an update, {plan.precision} "
            f"on {plan.device}{resumed}"
        )
        if self._stream.isatty():
            self._bar = tqdm(
                total=plan.total_samples,
                initial=plan.resumed_samples,
                unit=" windows",
                unit_scale=True,
                file=self._stream,
                dynamic_ncols=True,
                smoothing=SMOOTHING,
            )

    def on_updates(self, records: Sequence[UpdateRecord]) -> None:
        """Move the bar, or write a line now and then."""
        assert self._plan is not None
        last = records[-1]
        if self._bar is not None:
            self._bar.update(last.samples_seen - self._bar.n)
            self._bar.set_postfix_str(f"loss {last.loss:.4f}, lr {last.lr:.2e}")
            return
        total = self._plan.total_samples
        if total is None or (last.samples_seen - self._shown[-1][1]) * LINES >= total:
            self._shown.append((last.seconds, last.samples_seen))
            self._say(
                f"update {last.update:,}, {last.samples_seen:,} windows: loss {last.loss:.4f}, "
                f"lr {last.lr:.2e}, {last.windows_per_second:,.0f} windows/s{self._left(last)}"
            )

    def on_validation(self, record: ValidationRecord) -> None:
        """Write the scores."""
        self._say(
            f"validation at update {record.update:,}: loss {record.loss:.4f}, "
            f"direction {record.directional_accuracy:.1%} right{', the best so far' if record.best else ''}"
        )

    def on_event(self, event: TrainingEvent) -> None:
        """Write what happened."""
        detail = ", ".join(f"{name} {value}" for name, value in event.detail.items())
        self._say(f"{event.name.replace('_', ' ')} after update {event.update:,}: {detail}")

    def on_end(self, summary: TrainingSummary) -> None:
        """Close the bar and say how it ended."""
        if self._bar is not None:
            self._bar.close()
            self._bar = None
        best = "" if summary.best_update is None else f", best at update {summary.best_update:,}"
        self._say(
            f"training {summary.outcome.replace('_', ' ')}: {summary.update:,} updates, "
            f"{summary.micro_step:,} micro-steps, {summary.samples_seen:,} windows "
            f"in {summary.seconds:.1f} s{best}"
        )
        if summary.outcome == "interrupted":
            self._say(
                "no state was saved; the same command starts over"
                if summary.saved_update is None
                else f"the state at update {summary.saved_update:,} is saved; to go on from there, give the "
                "same command again, such as dvc repro"
            )

    def _left(self, last: UpdateRecord) -> str:
        assert self._plan is not None
        since, before = self._shown[0]
        windows = last.samples_seen - before
        if self._plan.total_samples is None or windows <= 0:
            return ""
        seconds = (self._plan.total_samples - last.samples_seen) * (last.seconds - since) / windows
        return f", {int(seconds) // 60}:{int(seconds) % 60:02d} left"

    def _say(self, line: str) -> None:
        if self._bar is not None:
            self._bar.write(line, file=self._stream)
        else:
            print(line, file=self._stream, flush=True)
