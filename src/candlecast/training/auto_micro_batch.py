"""Choose the micro-batch that memory carries, when the parameters leave it open."""

from collections.abc import Sequence
from dataclasses import replace

import psutil
import torch

from candlecast.training.config import Recipe
from candlecast.training.distributed import current_processes
from candlecast.training.memory import predict
from candlecast.training.memory_plan import Choice, MemoryPlan, Setting, format_size, plan_settings
from candlecast.training.memory_table import plan_table
from candlecast.training.out_of_memory import nothing_fits, release_memory, retry_smaller
from candlecast.training.precision import make_precision
from candlecast.training.records import Observer, TrainingEvent
from candlecast.training.rehearsal import Rehearsal, Workload


def settle(workload: Workload, device: torch.device, observers: Sequence[Observer] = ()) -> Recipe:
    """Return the workload's recipe with a number for its micro-batch, and tell `observers` what was chosen.

    The recipe itself where it has a number already. A resumed training keeps the number it was begun with.
    """
    recipe = workload.recipe
    if recipe.accum.micro_batch != "auto":
        return recipe
    choice = choose_micro_batch(workload, device)
    detail = {"micro_batch": choice.micro_batch, "steps": choice.steps, "largest_that_fits": choice.largest}
    event = TrainingEvent(name="micro_batch_chosen", update=0, samples_seen=0, detail=detail)
    for observer in observers:
        observer.on_event(event)
    return replace(recipe, accum=replace(recipe.accum, micro_batch=choice.micro_batch))


def free_memory(device: torch.device) -> int:
    """Return the bytes a training could still take; processes without a GPU share theirs."""
    if device.type == "cuda":
        free, _ = torch.cuda.mem_get_info(device)
        return int(free + torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device))
    return int(psutil.virtual_memory().available) // current_processes().count


def device_plan(workload: Workload, device: torch.device, budget: float | None = None) -> MemoryPlan:
    """Return the plan of the workload as it is, within `budget` bytes or what is free on `device`."""
    precision = make_precision(workload.recipe.train.precision, device).name
    setting = Setting(
        precision=precision,
        checkpoint_activations=workload.model.checkpoint_activations,
        memory=predict(workload, precision),
    )
    budget = free_memory(device) if budget is None else budget
    return plan_settings((setting,), budget, workload.recipe.accum.windows_per_update)


def choose_micro_batch(workload: Workload, device: torch.device, budget: float | None = None) -> Choice:
    """Return the micro-batch to train with on `device`; `budget` is what is free there unless given.

    On a GPU one real update of a throw-away model verifies it, and halves it while memory runs out. The
    generators are left as they were, and no weight or buffer of the model to be trained is touched.

    Raises
    ------
    TrainingError
        Not even one window fits; the message carries the plan's table.
    """
    plan = device_plan(workload, device, budget)
    (choice,) = plan.choices
    if choice.steps == 0:
        raise nothing_fits(f"{format_size(plan.usable)} may be used", plan_table(plan))
    return verified(workload, choice, plan, device) if device.type == "cuda" else choice


def verified(workload: Workload, choice: Choice, plan: MemoryPlan, device: torch.device) -> Choice:
    """Return the choice, or a smaller one with which a real update does not run out of memory."""

    def attempt(micro_batch: int) -> None:
        rehearsal = Rehearsal(workload, choice.precision, plan.effective_batch, device)
        rehearsal.prime()
        rehearsal.update(micro_batch)

    with torch.random.fork_rng([device] if device.type == "cuda" else []):
        _, carried = retry_smaller(
            attempt, choice.micro_batch, lambda: None, lambda size, reason: None, lambda: plan_table(plan)
        )
    release_memory()
    return Choice(
        precision=choice.precision,
        checkpoint_activations=choice.checkpoint_activations,
        largest=min(choice.largest, carried) if carried < choice.micro_batch else choice.largest,
        micro_batch=carried,
        steps=-(-plan.effective_batch // carried),
    )
