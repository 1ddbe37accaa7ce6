"""The page's part on what the article has wrong."""

import math

from training import article_errors
from training.page_parts import number, share, table

from candlecast.report.document import Section, Shown


def article_sections() -> tuple[Section, ...]:
    return (
        Section("What the article has wrong: the tail of an epoch", tail()),
        Section("What the article has wrong: two losses", losses()),
        Section("What the article has wrong: a short micro-batch", ragged()),
        Section("What the article has wrong: dropout", dropout()),
        Section("What the article has wrong: the smoother curve", averaged()),
        Section("What the article has wrong: attention's memory", attention()),
        Section(
            "What the article leaves open",
            (
                "That too large a batch ends in sharp minima and generalises worse is contested: Shallue et "
                "al. "
                "(2019) find no such loss once each batch has its own learning rate, Smith et al. (2020) "
                "find one. "
                "`001-accumulation` asks it of this network. `torch.cuda.amp`, which the article uses, is "
                "deprecated for `torch.amp`; bfloat16 needs no scaler.",
            ),
        ),
    )


def tail() -> tuple[str | Shown, ...]:
    found = article_errors.tail()
    rows = {
        str(length): (str(updates), str(2 * -(-length // 4))) for length, updates in found.updates.items()
    }
    return (
        "Its loop steps when `(i + 1) % steps == 0` and clears the gradient there only. With 7 "
        "micro-batches an epoch and 4 steps, three are left over: they are neither applied nor cleared, and "
        f"the next epoch's first update is off by {found.leaked:.0%}. With fewer micro-batches than steps "
        "nothing is ever learnt.",
        Shown(
            table(("Updates, article", "Updates, exact"), rows),
            "Micro-batches an epoch",
            "Two epochs of 4 steps an update.",
        ),
    )


def losses() -> tuple[str, ...]:
    return (
        "It says that of two losses only the sum may be divided, since dividing each divides twice. a / K + "
        "b / K "
        f"is (a + b) / K: the gradients differ by {number(article_errors.each_loss_divided())}.",
    )


def ragged() -> tuple[str, ...]:
    found = article_errors.ragged()
    return (
        "Dividing each micro-batch's mean by K weighs a short one's windows too much: 32 windows in "
        "micro-batches "
        f"of 5, the last of 2, are off by {share(found['means'])}. Sums divided once by 32: "
        f"{share(found['sum'])}.",
    )


def dropout() -> tuple[str, ...]:
    found = article_errors.dropout()
    return (
        "It says that dropout makes accumulation differ from the large batch. Masks are drawn for each "
        "window, so "
        "only the order of random numbers differs: over 400 draws of the gradient of 8 windows, whole and in "
        f"micro-batches of 2, the variances have a ratio of {found.spread:.1f} and the means of all weights "
        f"lie within {math.ceil(found.mean)} standard errors of each other.",
    )


def averaged() -> tuple[str, ...]:
    return (
        f"A logged loss that averages 8 micro-batches scatters {article_errors.averaged_curve():.2f} times "
        "as much as one that does not, 1 / sqrt(8), whatever the network learns. `001-accumulation` "
        "measures what is left when both curves average the same windows.",
    )


def attention() -> tuple[str, ...]:
    fused, written_out = (article_errors.attention_bytes(fused) / 2**20 for fused in (True, False))
    return (
        "Its B L L heads is what attention holds where the scores are materialised. One attention over 256 "
        "bars, "
        f"16 windows and 4 heads keeps {written_out:.1f} MiB written out, {fused:.1f} MiB fused.",
    )
