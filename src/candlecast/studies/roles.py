"""Which arm trains on the small batch, which accumulates, and which takes the large batch at once."""

from collections.abc import Mapping
from dataclasses import dataclass

from candlecast.studies.trials import Trial


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
        arm: (int(trial.run.params["plan.micro_batch"]), int(trial.run.params["plan.effective_batch"]))
        for arm, trial in first_trials.items()
        if "plan.micro_batch" in trial.run.params and "plan.effective_batch" in trial.run.params
    }
    for arm, (micro, effective) in batches.items():
        if effective == micro:
            continue
        small = next((other for other, sizes in batches.items() if sizes == (micro, micro)), None)
        large = next((other for other, sizes in batches.items() if sizes == (effective, effective)), None)
        if small is not None:
            return Roles(small, arm, large)
    return None
