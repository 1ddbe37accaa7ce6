"""The arm that a study's own rule names, and the one of its runs whose model may become the champion."""

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from candlecast.errors import StudyError
from candlecast.studies.coincidence import largest_gap
from candlecast.studies.compare import study_file
from candlecast.studies.comparison import Comparison, compare_study
from candlecast.studies.judgement import Judgement, judge
from candlecast.studies.study import TUNING_METRIC, Study, load_study
from candlecast.studies.trials import Trial, best_loss
from candlecast.tracking.lookup import find_run
from candlecast.tracking.registry import Promoted, promote
from candlecast.tracking.runs import RunReader
from candlecast.tracking.store import Store

_NAMES: Final = {"better": "arm", "worse": "against"}  # a verdict -> whose model the rule then prefers


@dataclass(frozen=True, slots=True, kw_only=True)
class Winner:
    """The arm that a study's rule prefers, and its run with the lowest validation loss."""

    arm: str
    trial: Trial
    verdict: str  # in a sentence

    @property
    def sentence(self) -> str:
        """Return why this run of all."""
        run = self.trial.run
        return (
            f"{self.verdict} Of the seeds of {self.arm}, {run.name} (run {run.run_id}) has the lowest "
            f"{TUNING_METRIC}, {best_loss(run):.4f}."
        )


def promote_winner(root: Path, store: Store, name: str) -> tuple[Winner, Promoted]:
    """Make the model of a study's winner the champion, if its own test span allows it too.

    Parameters
    ----------
    name
        The study's file, or its name where the file lies in `experiments/`.

    Raises
    ------
    StudyError
        There is no such study, or its rule names no winner.
    TrackingError
        The winner's model may not be the champion by `registry.promote`.
    """
    file = study_file(root, [name])
    if file is None:
        raise StudyError(f"--study: no {name} in {root / 'experiments'}; give the path of the study's YAML")
    study = load_study(file)
    chosen = winner(compare_study(RunReader(store), study))
    found = find_run(store, chosen.trial.run.run_id)
    return chosen, promote(found, f"Study {study.name}: {chosen.sentence}")


def winner(comparison: Comparison) -> Winner:
    """Return the winner by the rule of the study that was compared.

    Which of the arm's runs stands for it is chosen by validation: the lowest test score of several seeds
    would be a score that the test span chose.

    Raises
    ------
    StudyError
        There is no study, its rule names no winner, it was not applied to every seed that the study states,
        or a control is broken.
    """
    study, judgement = comparison.study, judge(comparison)
    if study is None or judgement is None:
        raise StudyError(f"{comparison.name}: runs without a study have no rule that could name a winner")
    if (reason := _obstacle(study, comparison, judgement)) is not None:
        raise StudyError(f"{study.name}: no model is promoted: {reason}")
    arm: str = getattr(study.decision, _NAMES[judgement.verdict])
    trials = [trial for trial in comparison.of(arm) if math.isfinite(_validation_loss(trial))]
    if not trials:
        raise StudyError(f"{study.name}: no model is promoted: no run of {arm} has a {TUNING_METRIC}")
    return Winner(arm=arm, trial=min(trials, key=_validation_loss), verdict=judgement.headline)


def _validation_loss(trial: Trial) -> float:
    loss = best_loss(trial.run)
    return math.inf if loss is None else loss


def _obstacle(study: Study, comparison: Comparison, judgement: Judgement) -> str | None:
    pairs = 0 if judgement.effect is None else judgement.effect.paired.pairs
    if pairs < len(study.seeds):
        # A rule that is asked after every seed until it says yes is another rule than the one stated.
        return (
            f"{study.decision.arm} and {study.decision.against} have {pairs} of the study's "
            f"{len(study.seeds)} seeds in common; finish it with: candlecast study run"
        )
    if judgement.verdict not in _NAMES:
        return f"{judgement.headline} {judgement.sentence}"
    for control in study.controls:
        gap = largest_gap(comparison, control.metric, control.arm, control.against)
        if gap is not None and gap > control.tolerance:
            return (
                f"{control.arm} and {control.against} must coincide and differ by {gap:.2e} in "
                f"{control.metric}, where the study allows {control.tolerance:g}"
            )
    return None
