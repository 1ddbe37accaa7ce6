"""Keeps a gradient that is not finite from the weights, and says where it came from."""

from collections import deque
from collections.abc import Callable, Sequence
from math import isfinite
from types import TracebackType
from typing import Self

import torch
from torch import Tensor

from candlecast.errors import TrainingError
from candlecast.training.accumulate import micro_batches
from candlecast.training.config import Recipe
from candlecast.training.log import NonFiniteUpdate
from candlecast.training.loss import make_loss_sum
from candlecast.training.state import Moment, TrainingState
from candlecast.windows.batch import Batch

NAMED = 8  # windows that an error lists
SKIPS_IN_A_ROW = 40  # float16's scale has then gone from 2^16 to below 2^-24


class FiniteGuard:
    """Decides after each clipping whether the gradient may be applied.

    float16: no, and training goes on with a lower loss scale. Otherwise training stops, with weights and
    moments as they were before that update. On a CPU the norm is read at once. On a GPU reading it would
    make the host wait in every update, so the fused optimiser reads a flag on the device instead and does
    nothing once it is up; the host learns of it when the log is flushed, and goes back.
    """

    def __init__(
        self,
        state: TrainingState,
        recipe: Recipe,
        windows: Callable[[], Batch],
        names: Callable[[Tensor], list[str]],
        save: Callable[[], str],
    ) -> None:
        """Take how to get the effective batch at the counters again, to name panel rows, and to save."""
        self._state, self._windows, self._names, self._save = state, windows, names, save
        self._loss_sum = make_loss_sum(state.model, recipe.train, state.precision)
        self._moments: deque[Moment] = deque(maxlen=recipe.train.log_every + 1)
        self._skips = 0
        self._broken: Tensor | None = None
        if can_defer(state):
            self._broken = torch.zeros((), device=state.device)
            state.optimizer.found_inf = self._broken  # type: ignore[attr-defined]  # read by fused kernels

    def begin(self) -> None:
        """Note the moment before an update."""
        self._moments.append(Moment.of(self._state))

    def undo(self) -> None:
        """Go back to the moment before the update that was begun last; nothing of it was applied."""
        processes = self._state.processes
        if processes.count > 1:  # the others wait for its gradient, and may have carried theirs
            raise TrainingError(
                f"memory ran out in process {processes.rank + 1} of {processes.count}, which cannot try "
                "again alone; lower accum.micro_batch, or leave it to auto, which keeps a margin"
            )
        self._moments[-1].restore(self._state)
        self._state.optimizer.zero_grad(set_to_none=True)

    def allows(self, grad_norm: Tensor) -> bool:
        """Say whether the update may be applied; False in float16 only.

        Raises
        ------
        NonFiniteUpdate
            The gradient is not finite, outside float16, and the host may know it at once.
        """
        if self._broken is not None:
            self._broken.logical_or_(~torch.isfinite(grad_norm))
            return True
        finite = isfinite(grad_norm.item())
        if finite:
            self._skips = 0
        elif not self._state.precision.scaler.is_enabled():
            raise NonFiniteUpdate(self._state.counters.update)
        else:
            self._skips += 1
            if self._skips > SKIPS_IN_A_ROW:
                raise TrainingError(
                    f"update {self._state.counters.update + 1}: the gradient overflowed float16 "
                    f"{self._skips} times in a row; use train.precision bf16 or fp32"
                )
        return finite

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._broken is not None:
            del self._state.optimizer.found_inf  # type: ignore[attr-defined]
        if isinstance(error, NonFiniteUpdate):
            raise self._explained(error.update) from None

    def _explained(self, update: int) -> TrainingError:
        """Go back to before the update, find the micro-batch, save, and return the error to raise."""
        moment = next(moment for moment in self._moments if moment.counters.update == update)
        moment.restore(self._state)
        self._state.optimizer.zero_grad(set_to_none=True)
        own = self._state.processes.share(self._windows())
        where, what, rows = self._search(micro_batches(own, self._state.micro_batch))
        moment.restore(self._state)
        self._state.optimizer.zero_grad(set_to_none=True)
        saved, names = self._save(), self._names(rows)
        more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
        return TrainingError(
            f"update {update + 1}, micro-step {moment.counters.micro_step + where}: {what} is not finite; "
            f"windows {', '.join(names[:NAMED])}{more}; no weight was touched{saved}; lower train.peak_lr or "
            f"look at these windows' features"
        )

    def _search(self, slices: Sequence[Batch]) -> tuple[int, str, Tensor]:
        """Return which micro-batch fails first (1, 2, ...), by its loss or its gradient, and its rows."""
        parameters = [p for group in self._state.optimizer.param_groups for p in group["params"]]
        for k, batch in enumerate(slices, start=1):
            loss = self._loss_sum(batch)
            if not torch.isfinite(loss):
                return k, "the loss", self._guilty(batch)
            gradients = torch.autograd.grad(loss, parameters, allow_unused=True)
            if not all(gradient is None or torch.isfinite(gradient).all() for gradient in gradients):
                return k, "the gradient", batch.rows
        return len(slices), "the sum of the gradients", torch.cat([batch.rows for batch in slices])

    def _guilty(self, batch: Batch) -> Tensor:
        """Return the rows whose own loss is not finite; all, where none is to blame alone."""
        with torch.no_grad():
            alone = [self._loss_sum(batch[index : index + 1]) for index in range(len(batch))]
        guilty = batch.rows[~torch.isfinite(torch.stack(alone))]
        return guilty if len(guilty) else batch.rows


def can_defer(state: TrainingState) -> bool:
    """Say whether the optimiser can hold still by itself on a GPU, and nothing else would move on."""
    fused = all(group.get("fused") for group in state.optimizer.param_groups)
    still = not state.average.values and not list(state.model.buffers())
    return state.device.type == "cuda" and fused and still and not state.precision.scaler.is_enabled()
