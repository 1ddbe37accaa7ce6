"""The tables of intervals, of the tests' own calibration, of the economic view and of the audit."""

from candlecast.evaluation.assess import Economics
from candlecast.evaluation.audit import Audit
from candlecast.evaluation.bootstrap import Interval
from candlecast.evaluation.calibration import PLANTED_ACCURACY, Calibrated
from candlecast.evaluation.evidence import Evidence
from candlecast.report.scores import SCORES, Score, label, minus, percent, plain, share
from candlecast.report.sentences import distinct_paths
from candlecast.report.tables import Cell, Row, Table

_NONE = "\u2013"
_WORDS = {1: ("better", "better"), 0: ("cannot tell", ""), -1: ("worse", "worse")}


def evidence_table(evidence: Evidence) -> Table:
    """Return each score with its interval, the best baseline, and the difference with its interval."""
    level = f"{evidence.confidence:.0%}"
    heads = (
        ("Candlecast", ""),
        (f"{level} interval", "where the score would fall in most repetitions of the span"),
        ("Best baseline", "of this score, chosen on the test span itself, which favours it"),
        ("Difference", "Candlecast less the best baseline"),
        (f"{level} interval", "of the difference, from the same resampled days"),
        ("So", "whether the interval of the difference lies on one side of zero"),
    )
    known = {score.name for score in evidence.scores}
    rows = []
    for shown in SCORES:
        if shown.name not in known:
            continue
        score = evidence.score(shown.name)
        apart = score.difference_interval
        # One forecast twice, as when only one direction is ever called: not even a doubt.
        same = apart.low == apart.high == 0
        word, mark = ("the same", "") if same else _WORDS[score.gain]
        cells = (
            Cell(shown.show(score.value), "strong"),
            Cell(_interval(score.interval, shown)),
            Cell(f"{label(score.baseline)}: {shown.show(score.value - score.difference)}", "words"),
            Cell(_NONE if same else shown.show_difference(score.difference)),
            Cell(_interval(apart, shown, difference=True)),
            Cell(word, mark),
        )
        rows.append(Row(shown.label, cells))
    return Table(heads, tuple(rows))


def calibration_table(calibrated: tuple[Calibrated, ...]) -> Table:
    """Return how often each test rejects at 5 % on simulated markets, without and with planted skill."""
    heads = (
        ("Without skill", "share of markets in which the test rejects at 5%; 5% is honest"),
        ("95% interval", "Monte-Carlo interval of that share"),
        (f"At {PLANTED_ACCURACY:.0%} accuracy", "share of markets in which planted skill is found"),
        ("95% interval", "Monte-Carlo interval of that share"),
    )
    rows = [
        Row(
            each.test,
            (
                Cell(share(each.size), "strong"),
                Cell(_shares(each.size_interval)),
                Cell(share(each.power), "strong"),
                Cell(_shares(each.power_interval)),
            ),
        )
        for each in calibrated
    ]
    return Table(heads, tuple(rows))


def economics_table(economics: Economics) -> Table:
    """Return each strategy at each cost; those that were the same day by day share their rows."""
    names = {path.strategy: name for name, path in distinct_paths(economics)}
    heads = (
        ("Cost", "basis points of traded value"),
        ("Return a year", "252 times the mean day, after costs"),
        ("Volatility", "of a year"),
        ("Sharpe", "return over volatility, without a riskless rate"),
        ("Deflated", "probability that the true ratio beats the best of as many trials without skill"),
        ("Drawdown", "largest fall of capital from a peak"),
    )
    rows = [
        Row(
            names[each.strategy] if each.cost_bp == economics.outcomes[0].cost_bp else "",
            (
                Cell(f"{each.cost_bp:g} bp"),
                Cell(percent(each.annual_return), "strong"),
                Cell(share(each.annual_volatility)),
                Cell(minus(plain(each.annual_sharpe))),
                Cell(share(each.deflated_sharpe)),
                Cell(share(each.largest_drawdown)),
            ),
        )
        for each in economics.outcomes
        if each.strategy in names
    ]
    return Table(heads, tuple(rows))


def _interval(interval: Interval, shown: Score, difference: bool = False) -> str:
    if interval.low == interval.high:  # of a forecast that never changes: the same in every resample
        return _NONE
    show = shown.show_difference if difference else shown.show
    return f"{show(interval.low)} to {show(interval.high)}"


def _shares(interval: Interval) -> str:
    return f"{share(interval.low)} to {share(interval.high)}"


def audit_table(audit: Audit) -> Table:
    """Return each check of the leakage audit with its answer."""
    words = {"ok": ("holds", "better"), "finding": ("FINDING", "worse"), "note": ("note", "")}
    rows = []
    for check in audit.checks:
        word, mark = words[check.status]
        rows.append(Row(f"{check.area}: {check.name}", (Cell(word, mark), Cell(check.detail, "words"))))
    return Table((("", ""), ("What was compared", "")), tuple(rows))
