import pytest

from candlecast.data.quality import CHECKS
from candlecast.report.scores import SCORES, label
from candlecast.report.tables import best_baseline, check_table, flatten, headline_table, history_table


def test_the_best_baseline_is_the_lowest_error_and_the_highest_score():
    metrics = {
        "test": {},
        "validation": {},
        "baselines": {"a": {"x_error": 2, "x_score": 2}, "b": {"x_error": 1, "x_score": 1}},
    }
    assert best_baseline(metrics, "x_error") == "b"
    assert best_baseline(metrics, "x_score") == "a"


def test_each_column_marks_one_best_baseline_and_the_differences_sign(inputs):
    table = headline_table(inputs.metrics)
    names = [score for score in SCORES if score.compared]
    assert len(table.heads) == len(names)
    for column, score in enumerate(names):
        baselines = [row for row in table.rows if row.kind == "baseline"]
        best = [row.label for row in baselines if row.cells[column].mark == "best"]
        assert best == [label(best_baseline(inputs.metrics, score.name))]
        model = inputs.metrics["test"][score.name]
        rival = inputs.metrics["baselines"][best_baseline(inputs.metrics, score.name)][score.name]
        better = model < rival if score.name.endswith("_error") else model > rival
        (difference,) = (row for row in table.rows if row.kind == "difference")
        assert difference.cells[column].mark == ("better" if better else "worse")


def test_a_score_that_a_thin_universe_lacks_has_no_column(inputs):
    trimmed = {
        **inputs.metrics,
        "test": {k: v for k, v in inputs.metrics["test"].items() if not k.startswith("daily_")},
    }
    assert len(headline_table(trimmed).heads) == len(headline_table(inputs.metrics).heads) - 1


def test_the_differences_are_left_to_a_table_of_intervals(inputs):
    kinds = [row.kind for row in headline_table(inputs.metrics, differences=False).rows]
    assert "difference" not in kinds
    assert kinds == [row.kind for row in headline_table(inputs.metrics).rows if row.kind != "difference"]


def test_tickers_left_out_are_listed_with_the_reason(inputs):
    last = history_table(inputs.manifest).rows[-1]
    assert last.label == "FB"
    assert last.cells[-1].text == "left out: 196 bars, fewer than data.min_bars 600"


def test_every_check_is_listed_with_policy_and_count_those_that_found_nothing_too(inputs):
    rows = {row.label: [cell.text for cell in row.cells] for row in check_table(inputs.manifest).rows}
    assert tuple(rows) == CHECKS
    assert rows["zero_volume"][:2] == ["3", "flag"]
    assert rows["missing_price"][0] == "0"


def test_a_history_says_its_currency_and_notes(inputs):
    assert history_table(inputs.manifest).rows[0].cells[-1].text == "in USD; split 2005-02-28 undone"


def test_parameters_are_flattened_to_dotted_keys():
    assert list(flatten({"a": {"b": [1, 2], "c": None}, "d": 3})) == [
        ("a.b", "1, 2"),
        ("a.c", "null"),
        ("d", "3"),
    ]


@pytest.mark.parametrize(
    ("name", "text"), [("ridge_logistic", "Ridge and logistic regression"), ("my_own", "My own")]
)
def test_models_are_named_for_a_reader(name, text):
    assert label(name) == text
