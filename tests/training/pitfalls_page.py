"""Write the page of pitfalls with its numbers measured afresh: make pitfalls.

    python -m training.pitfalls_page experiments/002-pitfalls.md

The faulty loops are those that the tests hold against the right one.
"""

import sys
from pathlib import Path

from training.article_sections import article_sections
from training.pitfall_sections import batch_norm, clip, dirty, division, schedule, synchronised, ways
from training.pitfalls import EFFECTIVE, MICRO, STEPS, UPDATES, untrained_loss

from candlecast.files import write_text
from candlecast.report.document import Command, Document, Section, text


def build() -> Document:
    return Document(
        kind="Study 002-pitfalls",
        headline="What goes wrong when gradients are accumulated, in numbers",
        lead=(
            "Each pitfall of the article that this project grew from, tried on a network of a few hundred "
            "weights in double precision, and after them what the article itself has wrong. Every number is "
            "measured by the command at the end; a test holds this page to it. Unless said otherwise an "
            f"update has {EFFECTIVE} windows in {STEPS} micro-batches of {MICRO}, and a training {UPDATES} "
            f"updates; losses are on 512 held-out windows, {untrained_loss():.2f} before training.",
        ),
        sections=(
            division(),
            batch_norm(),
            schedule(),
            clip(),
            dirty(),
            synchronised(),
            *article_sections(),
            ways(),
            Section("Made again by", (Command("make pitfalls"),)),
        ),
    )


def main() -> None:
    write_text(Path(sys.argv[1]), text(build(), lambda drawing: drawing.name))


if __name__ == "__main__":
    main()
