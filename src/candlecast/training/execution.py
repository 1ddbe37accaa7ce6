"""How forward and backward are run: eager or compiled, in one process or several, on which kernels."""

import logging
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any, cast

import torch
from torch import Tensor, nn

from candlecast.models.hybrid import Forecast
from candlecast.training.config import TrainConfig
from candlecast.training.distributed import Replica
from candlecast.training.state import TrainingState

logger = logging.getLogger(__name__)

SMALLEST_NORM_BATCH = 16  # windows from which batch norm's statistics are worth having


@dataclass(frozen=True, slots=True)
class Execution:
    """What the loop calls instead of the model."""

    forward: Callable[[Tensor], Forecast]  # inside an update
    evaluate: Callable[[Tensor], Forecast]  # outside, in one process alone
    context: Callable[[bool], AbstractContextManager[object]]  # around a micro-batch; is it the last?


def make_execution(state: TrainingState, config: TrainConfig) -> Execution:
    """Return how to run the model, and set the kernels' switches, which are torch's and global."""
    model = state.model
    warn_of_batch_norm(model, state.micro_batch)
    torch.backends.cudnn.benchmark = config.cudnn_benchmark
    torch.backends.cudnn.allow_tf32 = config.tf32
    torch.backends.cuda.matmul.allow_tf32 = config.tf32
    evaluate = cast(Any, torch.compile(model) if config.compile else model)
    if state.processes.count == 1:
        return Execution(evaluate, evaluate, lambda last: nullcontext())
    replica = Replica(model)
    forward = cast(Any, torch.compile(replica) if config.compile else replica)
    return Execution(forward, evaluate, replica.context)


def warn_of_batch_norm(model: nn.Module, micro_batch: int) -> None:
    """Warn where batch norm sees too few windows.

    It normalises by the statistics of a micro-batch, and moves its running ones once a micro-batch: K times
    an update. Accumulation cannot change that, so K micro-batches are not one large batch to it.
    """
    kinds = nn.BatchNorm1d | nn.BatchNorm2d | nn.BatchNorm3d
    if micro_batch < SMALLEST_NORM_BATCH and any(isinstance(module, kinds) for module in model.modules()):
        logger.warning(
            "model.norm: batch norm sees accum.micro_batch = %d windows at a time, however many steps are "
            "accumulated; use layer or group norm, or a micro-batch of at least %d",
            micro_batch,
            SMALLEST_NORM_BATCH,
        )
