"""When memory runs out during an update: half the micro-batch, and the same update again.

The effective batch, its windows and their order stay as they are. What the failed attempt moved (generators,
running statistics, part of a gradient) is put back, so without dropout the result is the undisturbed one.
"""

import gc
from collections.abc import Callable
from typing import TypeVar

import torch

from candlecast.errors import TrainingError

Result = TypeVar("Result")

# Libraries that allocate for themselves, and the CPU's allocator, report it in words only.
MESSAGES = (
    "out of memory",
    "can't allocate memory",
    "CUDNN_STATUS_ALLOC_FAILED",
    "CUBLAS_STATUS_ALLOC_FAILED",
)


def retry_smaller(
    attempt: Callable[[int], Result],
    micro_batch: int,
    restore: Callable[[], None],
    report: Callable[[int, str], None],
    plan: Callable[[], str],
) -> tuple[Result, int]:
    """Return `attempt(micro_batch)` and the micro-batch with which it did not run out of memory.

    `attempt` accumulates a whole effective batch. `restore` undoes what a failed attempt moved and clears
    the gradient, `report` learns the smaller micro-batch and the error's first line.

    Raises
    ------
    TrainingError
        Not even one window fits; the message carries the table that `plan` returns.
    """
    while True:
        try:
            return attempt(micro_batch), micro_batch
        except RuntimeError as error:
            if not is_out_of_memory(error):
                raise
            reason = str(error).splitlines()[0]
        # Only here, after the handler, are the failed attempt's frames gone, and with them its activations.
        restore()
        release_memory()
        micro_batch //= 2
        if micro_batch < 1:
            raise nothing_fits(reason, plan())
        report(micro_batch, reason)


def nothing_fits(reason: str, table: str) -> TrainingError:
    """Return the error for a memory that does not carry one window, with the plan's table."""
    return TrainingError(
        f"memory does not carry one window ({reason}); lower model.width or windows.length, or set "
        f"model.checkpoint_activations: true\n\n{table}"
    )


def is_out_of_memory(error: RuntimeError) -> bool:
    """Say whether an error means that memory ran out, whoever reports it."""
    return isinstance(error, torch.OutOfMemoryError) or any(words in str(error) for words in MESSAGES)


def release_memory() -> None:
    """Give back what nothing refers to, so that the next attempt does not find it in pieces."""
    gc.collect()
    if torch.cuda.is_available():
        torch.cuda.empty_cache()
