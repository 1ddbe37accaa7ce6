from dataclasses import replace

from candlecast.evaluation.audit import Audit, Check
from candlecast.evaluation.bootstrap import Interval
from candlecast.report.evidence_tables import audit_table, calibration_table, economics_table, evidence_table


def test_each_score_is_shown_with_both_intervals_and_a_word(inputs):
    evidence = inputs.assessment.evidence
    table = evidence_table(evidence)
    row = next(row for row in table.rows if row.label == "Directional accuracy")
    score = evidence.score("directional_accuracy")
    texts = [cell.text for cell in row.cells]
    assert texts[0] == f"{score.value:.1%}"
    assert texts[1] == f"{score.interval.low:.1%} to {score.interval.high:.1%}"
    assert texts[5] in {"better", "cannot tell", "worse", "the same"}
    assert all(len(row.cells) == len(table.heads) for row in table.rows)


def test_a_lower_error_is_better_and_a_lower_score_is_worse(inputs):
    evidence = inputs.assessment.evidence
    below = tuple(
        replace(score, difference=-0.02, difference_interval=Interval(-0.03, -0.01))
        for score in evidence.scores
    )
    rows = {row.label: row.cells[-1].text for row in evidence_table(replace(evidence, scores=below)).rows}
    assert rows["RMSE"] == rows["Brier error"] == "better"
    assert rows["ROC-AUC"] == rows["Directional accuracy"] == "worse"


def test_a_forecast_that_equals_the_baseline_s_is_called_the_same(inputs):
    evidence = inputs.assessment.evidence
    equal = tuple(
        replace(score, difference=0.0, difference_interval=Interval(0.0, 0.0)) for score in evidence.scores
    )
    rows = evidence_table(replace(evidence, scores=equal)).rows
    assert {row.cells[-1].text for row in rows} == {"the same"}
    assert {row.cells[3].text for row in rows} == {row.cells[4].text for row in rows} == {"\u2013"}


def test_strategies_that_were_the_same_every_day_share_their_rows(inputs):
    economics = inputs.assessment.economics
    market = economics.paths[2]
    equal = tuple(replace(market, strategy=path.strategy) for path in economics.paths)
    rows = economics_table(replace(economics, paths=equal)).rows
    assert [row.label for row in rows if row.label] == ["long/short, long/flat and always long"]
    assert len(rows) == 4


def test_every_strategy_and_cost_is_a_row_named_once(inputs):
    rows = economics_table(inputs.assessment.economics).rows
    assert len(rows) == 12
    assert [row.label for row in rows if row.label] == ["long/short", "long/flat", "always long"]
    assert [row.cells[0].text for row in rows[:4]] == ["0 bp", "5 bp", "10 bp", "20 bp"]


def test_every_test_has_its_size_and_power(inputs):
    rows = calibration_table(inputs.assessment.calibrated).rows
    assert len(rows) == 5
    assert all(len(row.cells) == 4 for row in rows)


def test_a_finding_stands_out(inputs):
    checks = (Check("split", "apart", "finding", "not"), Check("data", "chosen", "note", "so"))
    table = audit_table(Audit(checks))
    assert [(row.label, row.cells[0].text, row.cells[0].mark) for row in table.rows] == [
        ("split: apart", "FINDING", "worse"),
        ("data: chosen", "note", ""),
    ]
