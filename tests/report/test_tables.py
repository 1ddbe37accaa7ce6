import pytest

from candlecast.report.tables import SCORES, best_baseline, flatten, headline_table, history_table, label


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
    names = list(SCORES)
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


def test_tickers_left_out_are_listed_with_the_reason(inputs):
    last = history_table(inputs.manifest).rows[-1]
    assert last.label == "FB"
    assert last.cells[-1].text == "left out: 196 bars, fewer than data.min_bars 600"


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
