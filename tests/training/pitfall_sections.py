"""The page's part on the pitfalls themselves."""

import math

import torch
from torch import Tensor
from training import pitfalls
from training.faulty_ways import FAULTY_WAYS, Outcome, RightWay, by_large_batches
from training.page_parts import end, number, share, table
from training.pitfalls import SCALE, STEPS, UPDATES

from candlecast.report.document import Section, Shown


def division() -> Section:
    found = pitfalls.no_division()
    rows = {
        f"{name}, {'divided' if divided else 'not divided'}": (end(loss),)
        for (name, divided), loss in found.losses.items()
    }
    return Section(
        "No division by the number of micro-batches",
        (
            f"The gradient is {found.gradient_ratio:.3f} times the large batch's: with plain gradient "
            "descent that is the learning rate times as much, and training breaks.",
            Shown(
                table(("Held-out loss",), rows),
                "Optimiser",
                "The same training with and without the division.",
            ),
            "With Adam it goes unnoticed: its step does not depend on the gradient's scale, and the weights "
            f"end within {found.adam_apart:.0e} of each other, what its epsilon leaves. The article's "
            "warning is true of plain descent, of momentum, and of clipping, whose threshold is then eight "
            "times too low; the fault that Adam hides comes back with the optimiser.",
        ),
    )


def batch_norm() -> Section:
    batch, layer, scatter = (
        pitfalls.batch_norm("batch"), pitfalls.batch_norm("layer"), pitfalls.batch_norm_scatter(),
    )  # fmt: skip
    rows = {str(micro): (share(batch[micro]), share(layer[micro])) for micro in batch}
    noise = ", ".join(f"{value:.0%} at {micro}" for micro, value in scatter.items())
    return Section(
        "Batch norm at a small micro-batch",
        (
            "Batch norm normalises by the micro-batch it sees, so accumulation cannot make it a large batch. "
            "The variance it divides by scatters from micro-batch to micro-batch, relative to its mean, by "
            f"{noise} windows.",
            Shown(
                table(("Batch norm", "Layer norm"), rows),
                "Micro-batch",
                "Relative error of the accumulated gradient against 64 windows at once.",
            ),
        ),
    )


def schedule() -> Section:
    found = pitfalls.schedule()
    right, wrong = found.rates[True], found.rates[False]
    rows = {
        "every update": (f"{right[5]:.3f}", f"{right[UPDATES // 2]:.3f}", end(found.losses[True])),
        "every micro-batch": (f"{wrong[5]:.3f}", f"{wrong[UPDATES // 2]:.3f}", end(found.losses[False])),
    }
    return Section(
        "The scheduler stepped every micro-batch",
        (
            f"A cosine over {UPDATES} updates is over after {UPDATES // STEPS} of them; torch's then climbs "
            f"back and falls again, {STEPS // 2} times in all, while one-cycle refuses in update "
            f"{found.refused}. A problem this easy hardly shows it in the loss; the rates do.",
            Shown(
                table(("Rate of update 6", f"Rate of update {UPDATES // 2 + 1}", "Held-out loss"), rows),
                "Stepped",
                "Peak rate 0.5, plain gradient descent.",
            ),
        ),
    )


def clip() -> Section:
    found = pitfalls.clip()
    rows = {
        name: (f"{found.applied[right]:.2g}", f"{found.clipped[right]:.0%}", end(found.losses[right]))
        for name, right in (("unscaled, then clipped", True), ("clipped, then unscaled", False))
    }
    return Section(
        "Clipping before unscaling",
        (
            f"Under a loss scale of {SCALE:,.0f} every gradient is above a threshold of 1, so all are "
            "clipped, and "
            f"what unscaling leaves of them is at most 1 / {SCALE:,.0f}.",
            Shown(
                table(("Norm applied in update 1", "Updates clipped", "Held-out loss"), rows),
                "Order",
                "float16's loss scale, a clip at 1, plain gradient descent.",
            ),
        ),
    )


def dirty() -> Section:
    kept = pitfalls.applied_after_overflow("after a step")
    cleared = pitfalls.applied_after_overflow("always")
    return Section(
        "The buffer left dirty by a skipped update",
        (
            "One micro-batch of update 6 of 40 overflows. Where the gradient is cleared only after a step, "
            f"the infinity stays in it and every later update is skipped too: {kept} of 40 are applied, and "
            "training is "
            f"over without a message. Where it is cleared always, {cleared} are.",
            "The article says that its own loop leaves the buffer dirty. It does not: its `zero_grad` "
            f"follows whatever the scaler did, so its loop is the second one, {cleared} of 40.",
        ),
    )


def synchronised() -> Section:
    found = pitfalls.all_reduces()
    rows = {
        "no `no_sync` at all": (str(found["every"]),),
        "backward alone inside `no_sync`, as the article has it": (str(found["backward"]),),
        "forward and backward inside `no_sync`": (str(found["both"]),),
    }
    return Section(
        "Several processes that synchronise every micro-batch",
        (
            Shown(
                table(("All-reduces an update",), rows),
                "Way",
                f"DistributedDataParallel, {STEPS} micro-batches an update.",
                wordy=True,
            ),
            "The forward pass is what prepares the reduction, so `no_sync` around backward alone saves "
            "nothing. "
            "The article's first variant runs the last micro-batch under `torch.no_grad()`, where torch "
            "says: "
            f'"{pitfalls.last_step_without_gradient()}".',
        ),
    )


def ways() -> Section:
    expected = by_large_batches()
    rows = {}
    for way in (RightWay, *FAULTY_WAYS):
        name = (way.__doc__ or "").strip().splitlines()[0].rstrip(".")
        try:
            outcome = way().run()
            rows[name] = (str(len(outcome.rates)), *distances(outcome, expected))
        except RuntimeError:
            rows[name] = ("torch refuses", "", "", "")
    return Section(
        "Every faulty way beside training on large batches",
        (
            "Six effective batches, of which one overflows and two are short, in ragged micro-batches of "
            "weighted windows, under AdamW, a loss scale, a clip, a schedule and a moving average of the "
            "weights. The first row is the right way; what a fault leaves as it should be is rounding.",
            Shown(
                table(("Updates applied", "Weights off by", "Their average", "Logged losses"), rows),
                "Way",
                "Relative distance from training on large batches.",
                wordy=True,
            ),
        ),
    )


def distances(ours: Outcome, theirs: Outcome) -> tuple[str, str, str]:
    """Return the relative distances of last weights, averaged weights and logged losses."""
    same_length = len(ours.losses) == len(theirs.losses)
    found = (
        apart(list(ours.weights.values()), list(theirs.weights.values())),
        apart(ours.average, theirs.average),
        apart([torch.tensor(ours.losses)], [torch.tensor(theirs.losses)]) if same_length else math.nan,
    )
    weights, average, logged = (number(value) if math.isfinite(value) else "lost" for value in found)
    return weights, average, logged if same_length else "too few" if len(ours.losses) < 5 else "too many"


def apart(ours: list[Tensor], theirs: list[Tensor]) -> float:
    one, other = (torch.cat([tensor.flatten().double() for tensor in each]) for each in (ours, theirs))
    return float((one - other).norm() / other.norm())
