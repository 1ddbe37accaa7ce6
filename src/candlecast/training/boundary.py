"""What may happen between two updates, and only there: validation, stopping, checkpoints, signals."""

from collections.abc import Callable

from candlecast.training.budget import Budget
from candlecast.training.checkpoint import Checkpoints
from candlecast.training.config import TrainConfig
from candlecast.training.interruption import Interruption
from candlecast.training.log import TrainingLog
from candlecast.training.records import ValidationRecord
from candlecast.training.state import TrainingState


class Boundary(Interruption):
    """Reached after every effective batch. As a context, it holds signals back until it is reached.

    Several processes must agree on what depends on a clock or a signal; they do where the log is flushed,
    since they meet there anyway.
    """

    def __init__(
        self,
        state: TrainingState,
        log: TrainingLog,
        config: TrainConfig,
        validate: Callable[[], ValidationRecord],
        checkpoints: Checkpoints | None,
    ) -> None:
        super().__init__()
        self._state, self._log, self._config = state, log, config
        self._validate, self._checkpoints = validate, checkpoints

    def reached(self, windows: int, *, over: bool) -> None:
        """Do what is due after the last `windows` windows; `over` says that the budget is spent."""
        state, config = self._state, self._config
        if over or Budget.crossed(config.validate_every, state.counters, windows):
            self._log.flush()
            self._log.validation(self._validate())
            if over:
                state.outcome = "finished"
            elif state.best.stale(state.counters, config.patience):
                state.outcome = "stopped_early"
        if self._log.empty or state.processes.count == 1:
            self._save_or_stop()

    def _save_or_stop(self) -> None:
        state, checkpoints = self._state, self._checkpoints
        asked = state.processes.any(self.requested is not None, state.device)
        clock = checkpoints is not None and checkpoints.due(state, self._config.checkpoint_seconds)
        if asked or state.processes.any(clock, state.device) or (state.outcome and checkpoints):
            self.save()
        if asked and not state.outcome:
            self.deliver()

    def save(self) -> str:
        """Write a checkpoint and say where, for an error's sake; a full disk does not stop a training."""
        self._log.flush()
        if self._checkpoints is None:
            return ""
        try:
            self._checkpoints.save(self._state)
        except OSError as error:
            self._log.event("checkpoint_failed", {"reason": str(error)})
            return ""
        self._log.saved_update = self._state.counters.update
        return f" and they are saved in {self._checkpoints.path}"
