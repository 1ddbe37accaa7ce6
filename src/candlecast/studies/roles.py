"""Which arm trains on the small batch, which accumulates, and which takes the large batch at once."""

from collections.abc import Mapping
from dataclasses import dataclass

from candlecast.studies.trials import Trial
from candlecast.tracking.runs import TrackedRun


@dataclass(frozen=True, slots=True)
class Roles:
    """The arms that the article speaks of; `large` is None where no run took the effective batch whole."""

    small: str
    accumulated: str
    large: str | None


def find_roles(first_trials: Mapping[str, Trial]) -> Roles | None:
    """Return the roles from the batches alone: the first arm that accumulates, and its counterparts.

    None where no arm accumulates, or none trains on its micro-batch alone.
    """
    batches = {
        arm: sizes for arm, trial in first_trials.items() if (sizes := batch_sizes(trial.run)) is not None
    }
    for arm, (micro, effective) in batches.items():
        if effective == micro:
            continue
        small = next((other for other, sizes in batches.items() if sizes == (micro, micro)), None)
        large = next((other for other, sizes in batches.items() if sizes == (effective, effective)), None)
        if small is not None:
            return Roles(small, arm, large)
    return None


def batch_sizes(run: TrackedRun) -> tuple[int, int] | None:
    """Return micro-batch and effective batch: as the training resolved them, otherwise as asked for.

    A run that stands for a restored training resolved nothing. None where neither says.
    """
    params = run.params
    try:
        micro = int(params.get("plan.micro_batch") or params["accum.micro_batch"])
        if "plan.effective_batch" in params:
            return micro, int(params["plan.effective_batch"])
        if params["accum.steps"] != "null":
            return micro, micro * int(params["accum.steps"])
        return micro, int(params["accum.effective_batch"])
    except (KeyError, ValueError):
        return None
