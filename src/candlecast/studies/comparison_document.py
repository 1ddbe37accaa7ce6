"""A comparison as a document: the verdict first, then what it rests on."""

from collections.abc import Mapping, Sequence

from candlecast.report.document import Bullets, Command, Document, Figures, Part, Section, Shown
from candlecast.studies.article import Claim, article_claims
from candlecast.studies.comparison import Comparison
from candlecast.studies.comparison_drawings import averaging_drawing, course_drawings, differences_drawing
from candlecast.studies.comparison_tables import (
    CONTRASTED,
    arms_table,
    claims_table,
    contrasts_table,
    outcomes_table,
)
from candlecast.studies.judgement import Judgement, judge, lowered, power_sentence
from candlecast.studies.measures import measure
from candlecast.studies.roles import Roles, batch_sizes, find_roles
from candlecast.studies.study import TUNING_METRIC
from candlecast.studies.study_sections import asked_sections, control_sections, tuning_sections
from candlecast.training.memory import MemorySplit

BUDGETS = (
    "Equal windows are equal computation: every arm has seen the same data as often. At equal updates an "
    "arm with the larger effective batch has seen, and paid for, more; they are read off the same runs, so "
    "where the learning rate decays over the budget the smaller batch is caught in mid-schedule. Seconds "
    "are those of the machine that trained, and neighbours on it move them."
)
AVERAGING = (
    "A loss averaged over {times:g} times the windows scatters {shrunk:.2f} times as much whatever the "
    "network learns. Arms of one seed see the same windows in the same order, so the small batch's losses "
    "can be averaged over exactly the windows of each accumulated update: what is then left is the "
    "training's. Scatter is measured about a curve's own trend, over the last half of a training. The "
    "p-values of this table are not adjusted for their number."
)


def comparison_document(comparison: Comparison, peaks: Mapping[str, MemorySplit], command: str) -> Document:
    """Return everything there is to say, in the order in which a reader needs it."""
    judgement = judge(comparison)
    firsts = {arm: comparison.example(arm) for arm in comparison.arms}
    roles = find_roles(firsts)
    claims = article_claims(comparison, roles, peaks) if roles else ()
    sections = [
        *asked_sections(comparison, judgement, _names(comparison)),
        _differences(comparison),
        *_baseline(comparison),
        _courses(comparison),
        _arms(comparison, peaks),
        *tuning_sections(comparison),
        *_claims(comparison, roles, claims),
        *control_sections(comparison, roles),
        *_notes(comparison),
        _origin(comparison, command),
    ]
    study = comparison.study
    return Document(
        kind=f"Study {study.name}" if study else "Comparison of runs",
        headline=judgement.headline if judgement else _headline(comparison),
        lead=_lead(comparison, judgement),
        sections=tuple(sections),
    )


def _lead(comparison: Comparison, judgement: Judgement | None) -> tuple[str, ...]:
    pairs = max(
        (effect.paired.pairs for each in comparison.contrasts for effect in each.effects.values()), default=0
    )
    lead = [judgement.sentence] if judgement else []
    if comparison.contrasts:
        lead.append(power_sentence(pairs))
    return tuple(lead)


def _headline(comparison: Comparison) -> str:
    arms = list(comparison.arms)
    return " against ".join(arms) if len(arms) <= 3 else f"{len(arms)} arms against {arms[0]}"


def _differences(comparison: Comparison) -> Section:
    if not comparison.contrasts:
        return Section("Differences", ("One arm: there is nothing to set it against.",))
    asked, names = _asked(comparison), _names(comparison)
    drawing = differences_drawing(comparison, asked)
    decides = f", and only {lowered(measure(asked))}, decides" if comparison.study else ""
    return Section(
        "The differences, paired",
        (
            *((Figures((drawing,)),) if drawing else ()),
            Shown(
                contrasts_table(comparison.contrasts, comparison.confidence, names),
                "Measure",
                "Each difference is the first arm less the second within a seed, meaned over seeds.",
            ),
            "The p-values of a measure are adjusted over its contrasts, and better or worse is said only "
            f"where they still show it; measures are not adjusted against each other{decides}.",
        ),
    )


def _asked(comparison: Comparison) -> str:
    return comparison.study.decision.metric if comparison.study else TUNING_METRIC


def outcome_lines(comparison: Comparison) -> list[str]:
    """Return the mean differences as lines for a terminal: a measure a line, a contrast a column."""
    table = outcomes_table(comparison.contrasts, _names(comparison))
    rows = [("", *(head for head, _ in table.heads))]
    rows += [(row.label, *(cell.text for cell in row.cells)) for row in table.rows]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]


def _names(comparison: Comparison) -> list[str]:
    names = dict.fromkeys([_asked(comparison), *CONTRASTED])
    return [name for name in names if not _repeated(comparison, name)]


def _repeated(comparison: Comparison, name: str) -> bool:
    # Where all arms spend the same windows, what they reached at equal windows is what they reached.
    whole = (arm.get("val/best_loss") for arm in comparison.table.values())
    equal = (arm.get("equal/samples_loss") for arm in comparison.table.values())
    return name == "equal/samples_loss" and list(whole) == list(equal)


def _baseline(comparison: Comparison) -> list[Section]:
    if not comparison.beside_baseline:
        return []
    names = [name for name in CONTRASTED if name.startswith("test/")]
    return [
        Section(
            "Beside the simplest baseline",
            (
                "The training mean forecasts one return and one probability for every window. An arm that is "
                "not better has learnt nothing that helps on the test span.",
                *_one_sided(comparison),
                Shown(
                    contrasts_table(comparison.beside_baseline, comparison.confidence, names),
                    "Measure",
                    "Each arm less the training mean, meaned over seeds.",
                ),
            ),
        )
    ]


def _one_sided(comparison: Comparison) -> list[str]:
    # A balanced accuracy of exactly one half in every run: one direction is called throughout.
    calls = [arm.get("test/balanced_accuracy", {}).values() for arm in comparison.table.values()]
    if not all(calls) or any(value != 0.5 for arm in calls for value in arm):
        return []
    return ["Every run of every arm called one direction in every window of the test span."]


def _courses(comparison: Comparison) -> Section:
    return Section(
        "Along windows, updates and seconds", (BUDGETS, Figures(tuple(course_drawings(comparison))))
    )


def _arms(comparison: Comparison, peaks: Mapping[str, MemorySplit]) -> Section:
    equal = (
        f"Every run reached {comparison.budget['samples_seen']:,.0f} windows and "
        f"{comparison.budget['update']:,.0f} updates: what equal windows and equal updates mean here. The "
        "spread is the standard deviation over seeds: an arm's stability."
    )
    return Section(
        "Every arm",
        (equal, Shown(arms_table(comparison, peaks), "Mean \u00b1 spread", "All measures over seeds.")),
    )


def _claims(comparison: Comparison, roles: Roles | None, claims: Sequence[Claim]) -> list[Section]:
    if roles is None:
        return []
    drawing = averaging_drawing(comparison, roles)
    few, many = (batch_sizes(comparison.example(arm).run) for arm in (roles.small, roles.accumulated))
    assert few is not None  # they made the roles
    assert many is not None
    times = many[1] / few[1]
    parts: list[Part] = [
        Shown(claims_table(claims), "The article says", "A claim a row.", wordy=True),
        AVERAGING.format(times=times, shrunk=times**-0.5),
    ]
    if drawing:
        parts.append(Figures((drawing,)))
    return [Section("The article's claims", tuple(parts))]


def _notes(comparison: Comparison) -> list[Section]:
    if not comparison.notes:
        return []
    return [Section("What is missing or left out", (Bullets(tuple(comparison.notes)),))]


def _origin(comparison: Comparison, command: str) -> Section:
    runs = [trial.run for trial in comparison.trials]
    facts = {
        "hardware": {run.tags.get("hardware", "unknown") for run in runs},
        "commits": {run.tags.get("mlflow.source.git.commit", "unknown")[:12] for run in runs},
        "windows (SHA-256)": {run.tags.get("data.sha256", "unknown")[:16] for run in runs},
    }
    lines = [f"{name}: {', '.join(sorted(values))}" for name, values in facts.items()]
    lines.append(
        f"{len(runs)} runs compared, {len(comparison.tuned)} of the tuning behind them; `runs.csv` and "
        "`contrasts.csv` hold every number"
    )
    return Section("Where it came from", (Bullets(tuple(lines)), "Made again by:", Command(command)))
