"""The sections of a comparison that a study alone has: what it asked, how it tuned, what must coincide."""

import math
from collections.abc import Sequence

from candlecast.report.comparison_figures import sensitivity
from candlecast.report.document import Bullets, Figures, Section, Shown
from candlecast.studies.coincidence import coincidence, largest_gap
from candlecast.studies.comparison import Comparison
from candlecast.studies.comparison_tables import coincidence_table, outcomes_table, tuning_table
from candlecast.studies.judgement import Judgement, lowered
from candlecast.studies.measures import measure
from candlecast.studies.roles import Roles
from candlecast.studies.study import TUNING_METRIC


def asked_sections(
    comparison: Comparison, judgement: Judgement | None, names: Sequence[str]
) -> list[Section]:
    """Return the question and the prediction beside the outcome; `names` are the measures of its table."""
    study = comparison.study
    if study is None or judgement is None:
        return []
    return [
        Section("What was asked", (study.question, Bullets(_described(comparison)))),
        Section(
            "What was predicted, and what happened",
            (
                f"Written before any run: {study.prediction}",
                f"What happened: {judgement.headline}",
                Shown(
                    outcomes_table(comparison.contrasts, names),
                    "Measure",
                    "Mean differences over seeds, the first arm less the second; intervals are further down.",
                ),
            ),
        ),
    ]


def _described(comparison: Comparison) -> tuple[str, ...]:
    return tuple(f"{arm}: {description}" for arm, description in comparison.arms.items())


def tuning_sections(comparison: Comparison) -> list[Section]:
    """Return how the tuned parameter moved each arm, and what was chosen."""
    study = comparison.study
    if study is None or not comparison.tuned:
        return []
    tried = {
        arm: [
            (each.value, each.loss)
            for each in comparison.tuned
            if each.arm == arm and math.isfinite(each.loss)
        ]
        for arm in comparison.arms
    }
    chosen = {arm: comparison.of(arm)[0].value for arm in comparison.arms}
    shown = measure(TUNING_METRIC)
    seeds = ", ".join(map(str, study.tuning.seeds))
    drawing = sensitivity(
        {arm: trials for arm, trials in tried.items() if trials}, chosen, study.tuning.key, shown.label
    )
    return [
        Section(
            f"Sensitivity to {study.tuning.key}",
            (
                f"Each arm was tuned alike: the same values, the same seeds ({seeds}), on validation alone; "
                "none of these seeds is used again.",
                Figures((drawing,)),
                Shown(
                    tuning_table(comparison),
                    "Arm",
                    f"Mean {lowered(shown)} at each value; the lowest is marked.",
                ),
            ),
        )
    ]


def control_sections(comparison: Comparison, roles: Roles | None) -> list[Section]:
    """Return a section for each two arms that must coincide: the study's controls, or else the roles'."""
    study = comparison.study
    pairs = [(each.arm, each.against) for each in study.controls] if study else []
    if not pairs and roles and roles.large:
        pairs = [(roles.accumulated, roles.large)]
    sections = []
    for arm, against in pairs:
        apart = coincidence(comparison, arm, against) if {arm, against} <= set(comparison.arms) else None
        if apart is not None:
            sections.append(
                Section(
                    f"Identity control: {arm} and {against}",
                    (
                        "Accumulation claims to be the large batch. If it is, the two coincide but for "
                        "rounding, and every other difference here is the batch size's.",
                        Shown(coincidence_table(apart), "Over paired runs", f"{arm} beside {against}."),
                        *_kept(comparison, arm, against),
                    ),
                )
            )
    return sections


def _kept(comparison: Comparison, arm: str, against: str) -> list[str]:
    sentences = []
    for control in comparison.study.controls if comparison.study else ():
        if (control.arm, control.against) == (arm, against):
            apart = largest_gap(comparison, control.metric, arm, against)
            if apart is not None:
                kept = apart <= control.tolerance
                sentences.append(
                    f"The study allowed {control.tolerance:g} in {control.metric}; the largest difference is "
                    f"{apart:.2e}: {'kept' if kept else 'broken, and no difference is the batch size alone'}."
                )
    return sentences
