"""The runs of a study, or any runs, gathered into arms that can be compared."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from candlecast.errors import EvaluationError
from candlecast.studies.cells import Cell, confirmation_cells, tuning_cells
from candlecast.studies.contrasts import (
    Contrast,
    Pair,
    Values,
    adjusted,
    all_values,
    contrast,
    opposed,
    unpaired,
)
from candlecast.studies.measures import common_budget
from candlecast.studies.roles import batch_sizes
from candlecast.studies.study import Study
from candlecast.studies.trials import Trial, best_loss, diverged, make_trial
from candlecast.tracking.runs import RunReader, TrackedRun
from candlecast.tracking.studies import ARM, PHASE

# Differences that make no other arm: what pairs, what follows from others, and what changes no result.
_SAME_ARM: Final = ("seed", "windows.fold", "plan.", "train.log_every", "train.checkpoint_seconds")


BASELINE: Final = "training mean"


@dataclass(frozen=True, slots=True, kw_only=True)
class Tuned:
    """A training of the tuning phase: the value tried and the lowest validation loss it gave."""

    arm: str
    value: float
    seed: int
    loss: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Arms with their runs, and the contrasts between them."""

    name: str
    study: Study | None  # None: any set of runs
    arms: Mapping[str, str]  # name -> description
    trials: Sequence[Trial]
    tuned: Sequence[Tuned]
    confidence: float
    budget: Mapping[str, float]  # what every training reached
    table: Values
    contrasts: Sequence[Contrast]
    beside_baseline: Sequence[Contrast]  # each arm less the training mean, on the test span
    notes: Sequence[str] = field(default=())  # missing cells, seeds without a pair, runs left out

    def of(self, arm: str) -> list[Trial]:
        """Return an arm's trials, lowest seed first."""
        return sorted((trial for trial in self.trials if trial.arm == arm), key=lambda trial: trial.pair)

    def example(self, arm: str) -> Trial:
        """Return a trial of an arm whose training resolved its plan, if there is one."""
        trials = self.of(arm)
        return next((trial for trial in trials if "plan.precision" in trial.run.params), trials[0])


def compare_study(reader: RunReader, study: Study) -> Comparison:
    """Gather what the store holds of a study; what is missing is named, not waited for.

    Raises
    ------
    EvaluationError
        No run of the study's confirmation is there, or none has the parameters that the study states.
    """
    runs = reader.of_study(study.name)
    tuning, notes = _cells(runs, tuning_cells(study), study)
    tuned = [
        Tuned(arm=cell.arm, value=cell.value, seed=cell.seed, loss=loss)
        for cell, run in tuning
        if (loss := best_loss(run)) is not None
    ]
    chosen = _values_confirmed(runs, study)
    if not chosen:
        raise EvaluationError(
            f"{study.name}: the tracking store holds {len(runs)} runs of this study and none of its "
            "confirmation; run it with: candlecast study run"
        )
    arms = {name: study.arms[name].description for name in study.arms if name in chosen}
    wanted = confirmation_cells(study, {**dict.fromkeys(study.arms, 0.0), **chosen})
    confirmed, missing = _cells(runs, [cell for cell in wanted if cell.arm in chosen], study)
    notes += missing + [
        f"{name}: no finished run of the confirmation" for name in study.arms if name not in chosen
    ]
    trials = [make_trial(run, reader.course(run), cell.arm, study.tuning.key) for cell, run in confirmed]
    if not trials:
        raise EvaluationError(
            f"{study.name}: no run of the confirmation fits the study as it is written now ({notes[-1]}); "
            "run it again with: candlecast study run"
        )
    arms = {arm: text for arm, text in arms.items() if arm in {trial.arm for trial in trials}}
    return _compared(study.name, study, arms, trials, tuned, notes)


def compare_runs(reader: RunReader, runs: Sequence[TrackedRun], name: str, confidence: float) -> Comparison:
    """Group runs by the parameters in which they differ, seed and fold apart; the first run's arm leads.

    Raises
    ------
    EvaluationError
        No run is finished.
    """
    notes = [f"{run.name} ({run.run_id[:8]}): {run.status.lower()}, left out" for run in _unfinished(runs)]
    finished = [run for run in runs if run.status == "FINISHED"]
    if not finished:
        raise EvaluationError("no finished run to compare; name some, or let --filter through some")
    labels = arm_labels(finished)
    newest: dict[tuple[str, str, str], TrackedRun] = {}
    for run, label in zip(finished, labels, strict=True):
        place = label, run.params.get("seed", "0"), run.params.get("windows.fold", "0")
        if place in newest:
            notes.append(f"{run.name}: seed {place[1]} of {label} has a newer run, {run.run_id[:8]} left out")
        else:
            newest[place] = run
    trials = [make_trial(run, reader.course(run), label) for (label, _, _), run in newest.items()]
    if (
        len({run.tags.get("data.sha256") for run in newest.values()}) > 1
        and len({run.params.get("windows.fold") for run in newest.values()}) == 1
    ):
        notes.append("the runs saw different data (tag data.sha256): a difference may be the data's")
    return _compared(name, None, dict.fromkeys(labels, ""), trials, [], notes, confidence)


def arm_labels(runs: Sequence[TrackedRun]) -> list[str]:
    """Return for each run the parameters in which it differs from others, as a name of its arm."""
    keys = sorted(
        key
        for key in {key for run in runs for key in run.params}
        if not key.startswith(_SAME_ARM) and len({run.params.get(key) for run in runs}) > 1
    )
    accum = any(key.startswith("accum.") for key in keys)
    others = [key for key in keys if not key.startswith("accum.")]
    labels = []
    for run in runs:
        parts = [batches(run)] if accum or not others else []
        parts += [f"{key} {run.params.get(key, 'not there')}" for key in others]
        labels.append(", ".join(parts))
    return labels


def batches(run: TrackedRun) -> str:
    """Return micro-batch and steps as `16 x 8`."""
    sizes = batch_sizes(run)
    return f"{sizes[0]} x {-(-sizes[1] // sizes[0])}" if sizes else "unknown batch"


def _compared(
    name: str,
    study: Study | None,
    arms: Mapping[str, str],
    trials: list[Trial],
    tuned: Sequence[Tuned],
    notes: list[str],
    confidence: float = 0.95,
) -> Comparison:
    twins: list[str] = []
    first = None
    if study is not None:
        rule, confidence = study.decision, study.decision.confidence
        twins = [control.against for control in study.controls]
        first = (rule.arm, rule.against) if {rule.arm, rule.against} <= set(arms) else None
    budget = common_budget(trials)
    table = all_values(trials, budget)
    sets = opposed(list(arms), twins, first)
    lonely = [note for arm, against in sets for note in unpaired(trials, arm, against)]
    return Comparison(
        name=name,
        study=study,
        arms=arms,
        trials=trials,
        tuned=tuned,
        confidence=confidence,
        budget=budget,
        table=table,
        contrasts=adjusted([contrast(table, arm, against, confidence) for arm, against in sets]),
        beside_baseline=adjusted(_beside_baseline(table, trials, confidence)),
        notes=tuple(dict.fromkeys([*notes, *lonely])),
    )


def _beside_baseline(table: Values, trials: Sequence[Trial], confidence: float) -> list[Contrast]:
    own: dict[str, dict[Pair, float]] = {}
    for trial in trials:
        for name, value in trial.baseline.items():
            own.setdefault(name, {})[trial.pair] = value
    arms = dict.fromkeys(trial.arm for trial in trials)
    return [contrast({**table, BASELINE: own}, arm, BASELINE, confidence) for arm in arms] if own else []


def _unfinished(runs: Sequence[TrackedRun]) -> list[TrackedRun]:
    return [run for run in runs if run.status != "FINISHED"]


def _cells(
    runs: Sequence[TrackedRun], cells: Sequence[Cell], study: Study
) -> tuple[list[tuple[Cell, TrackedRun]], list[str]]:
    # The newest finished run of each cell, and a word on each cell that has none.
    found = []
    notes = []
    for cell in cells:
        own = [run for run in runs if _is_of(run, cell, study)]
        # A training that diverged while it was tuned has no end to wait for: that is what its value leads to.
        finished = [run for run in own if run.status == "FINISHED" or diverged(run)]
        sound = [run for run in finished if not differing(run, cell)]
        if sound:
            found.append((cell, sound[0]))
        elif finished:
            notes.append(
                f"{cell.name}: its run was made with {differing(finished[0], cell)[0]}; run the cell again"
            )
        else:
            state = own[0].status.lower() if own else "not in the tracking store"
            notes.append(f"{cell.name} ({cell.phase}): {state}")
    return found, notes


def _is_of(run: TrackedRun, cell: Cell, study: Study) -> bool:
    same = run.tags.get(ARM) == cell.arm and run.tags.get(PHASE) == cell.phase
    value = run.params.get(study.tuning.key)
    return same and run.params.get("seed") == str(cell.seed) and _same(value, str(cell.value))


def differing(run: TrackedRun, cell: Cell) -> list[str]:
    """Say which parameters of a run are not those of its cell, as after the study was edited."""
    wanted = {
        key: "null"
        if value is None
        else ", ".join(map(str, value))
        if isinstance(value, tuple)
        else str(value)
        for key, value in cell.overrides.items()
    }
    return [
        f"{key} {run.params.get(key)} where the study says {value}"
        for key, value in wanted.items()
        if key in run.params and not _same(run.params[key], value)
    ]


def _same(text: str | None, wanted: str) -> bool:
    try:
        return text is not None and float(text) == float(wanted)
    except ValueError:
        return text == wanted


def _values_confirmed(runs: Sequence[TrackedRun], study: Study) -> dict[str, float]:
    # The value at which an arm's newest confirmation ran; the tuning's choice made it so.
    chosen: dict[str, float] = {}
    for run in runs:
        arm = run.tags[ARM]
        if run.tags.get(PHASE) == "confirmation" and run.status == "FINISHED" and arm in study.arms:
            chosen.setdefault(arm, float(run.params[study.tuning.key]))
    return chosen
