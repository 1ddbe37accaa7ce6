import datetime
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
import torch
from evaluation import leaks
from parameters import SMALL_MODEL

from candlecast.data.manifest import Universe
from candlecast.errors import EvaluationError
from candlecast.evaluation.audit import Audit, Check
from candlecast.evaluation.audit_features import audit_features, first_difference
from candlecast.evaluation.audit_labels import audit_labels
from candlecast.evaluation.audit_model import (
    audit_model,
    audit_training,
    causal_steps,
    short_training,
)
from candlecast.evaluation.audit_split import audit_split
from candlecast.evaluation.canary import audit_canary, leaked_score, shuffled_score
from candlecast.evaluation.forecast import forecast
from candlecast.evaluation.run_audit import AuditInputs, run_audit
from candlecast.features.config import FeaturesConfig
from candlecast.features.target import forward_log_return
from candlecast.models.hybrid import build_model
from candlecast.windows.store import WindowStore


@pytest.fixture(autouse=True)
def one_thread() -> None:
    torch.set_num_threads(1)


@pytest.fixture(scope="module")
def bars() -> pl.DataFrame:
    return leaks.make_bars()


@pytest.fixture(scope="module")
def store() -> WindowStore:
    return WindowStore.build(leaks.small_panel(), leaks.small_config())


def found(checks: list[Check]) -> list[str]:
    return [check.name for check in checks if check.status == "finding"]


def named(leak: leaks.Leak) -> str:
    return f"{leak.kind}: {leak.planted}"


# --- a clean pipeline passes ---------------------------------------------------------------------


def test_honest_features_pass(bars):
    assert found(audit_features(bars, leaks.clean_build, leaks.WARMUP, seed=1, cuts=4)) == []


@pytest.mark.parametrize("length", [1, 2, 3])
def test_the_shortest_windows_can_be_audited(length):
    config = replace(SMALL_MODEL, tcn_blocks=1)
    model, windows = build_model(config, 3, length), torch.randn(2, length, 3)
    assert found([causal_steps(model.tcn, windows, "layer")]) == []


def test_an_honest_label_passes(bars):
    assert found(audit_labels(leaks.clean_build(bars), forward_log_return, leaks.HORIZON, seed=1)) == []


@pytest.mark.parametrize("change", [{}, {"embargo": 3}, {"stride": 4}, {"folds": 2, "fold": 1}])
def test_an_honest_split_passes(change):
    config = leaks.small_config(**change)
    checks = audit_split(leaks.small_panel(), lambda panel: WindowStore.build(panel, config), config)
    assert found(checks) == []


@pytest.mark.parametrize("norm", ["layer", "group", "batch"])
def test_an_honest_network_passes(store, norm):
    torch.manual_seed(0)
    model = build_model(replace(SMALL_MODEL, norm=norm), 3, leaks.LENGTH)
    checks = audit_model(model, store, forecast)
    assert found(checks) == []
    assert (checks[0].status == "note") == (norm == "group")


def test_honest_training_passes(store):
    assert audit_training(store, short_training(SMALL_MODEL, 3)).status == "ok"


def test_the_canary_sings_and_falls_silent():
    checks = audit_canary(leaks.small_panel(), leaks.small_config(), seed=2)
    assert found(checks) == []


# --- every planted leak is found -----------------------------------------------------------------


@pytest.mark.parametrize("leak", leaks.FEATURE_LEAKS, ids=named)
def test_a_leaking_feature_is_found(bars, leak):
    checks = audit_features(bars, leak.plant, leaks.WARMUP, seed=1, cuts=3)
    assert leak.fires in found(checks)


@pytest.mark.parametrize("leak", leaks.LABEL_LEAKS, ids=named)
def test_a_label_that_is_not_what_it_says_is_found(bars, leak):
    assert leak.fires in found(audit_labels(leaks.clean_build(bars), leak.plant, leaks.HORIZON, seed=1))


@pytest.mark.parametrize("leak", leaks.DISGUISED, ids=named)
def test_a_feature_that_is_the_label_is_found(bars, leak):
    features = leak.plant(bars)
    assert leak.fires in found(audit_labels(features, forward_log_return, leaks.HORIZON, seed=1))


@pytest.mark.parametrize("leak", leaks.SPLIT_LEAKS, ids=named)
def test_parts_that_are_not_apart_are_found(leak):
    checks = audit_split(leaks.small_panel(), leak.plant, leaks.small_config())
    assert leak.fires in found(checks)


def test_an_embargo_that_is_not_kept_is_found():
    config = leaks.small_config()
    checks = audit_split(
        leaks.small_panel(), lambda panel: WindowStore.build(panel, config), replace(config, embargo=2)
    )
    assert leaks.PURGE in found(checks)


@pytest.mark.parametrize("leak", leaks.MODEL_LEAKS, ids=named)
def test_a_network_or_a_training_that_sees_too_much_is_found(store, leak):
    check = leak.plant(store)
    assert (check.name, check.status) == (leak.fires, "finding")


@pytest.mark.parametrize("leak", leaks.ELSEWHERE, ids=named)
def test_what_no_bar_shows_is_answered_elsewhere(leak):
    assert leak.plant() == leak.fires


def test_a_test_span_too_short_for_an_interval_is_a_note_and_no_failure():
    panel = leaks.small_panel()
    late = leaks.small_config().test_start + datetime.timedelta(55)
    jump, chance = audit_canary(panel, leaks.small_config(test_start=late), seed=2)
    assert jump.status == "ok"
    assert chance.status == "note"
    assert "too few for an interval" in chance.detail


def test_a_blind_harness_is_found(monkeypatch):
    monkeypatch.setattr("candlecast.evaluation.canary.leaked_score", shuffled_score)
    monkeypatch.setattr("candlecast.evaluation.canary.shuffled_score", leaked_score)
    checks = audit_canary(leaks.small_panel(), leaks.small_config(), seed=2)
    assert len(found(checks)) == 2


def test_every_planted_leak_is_in_the_documentations_table():
    text = (Path(__file__).parents[2] / "docs" / "leakage-audit.md").read_text(encoding="utf-8")
    for leak in leaks.LEAKS:
        assert f"| {leak.kind} | {leak.planted} | {leak.fires} |" in text
    kinds = {leak.kind for leak in leaks.LEAKS}
    assert kinds == {"start", *(f"L{number}" for number in range(1, 28))}
    rows = [line for line in text.splitlines() if line.startswith(("| L", "| start"))]
    assert len(rows) == len(leaks.LEAKS)


# --- the audit itself ----------------------------------------------------------------------------


def test_a_difference_says_where_and_how_much(bars):
    built = leaks.clean_build(bars)
    row = built.filter(ticker="BBB")["date"][40]
    changed = built.with_columns(
        pl.when(pl.col("ticker") == "BBB", pl.col("date") == row).then(None).otherwise("busy").alias("busy")
    )
    text = first_difference(built, changed)
    assert text.startswith(f"busy of BBB on {row}: ")
    assert text.endswith("became nothing (1 of 780 rows)")
    assert first_difference(built, built.clone()) is None


def test_the_whole_audit_runs_on_the_real_catalogue(tmp_path):
    audit = run_audit(
        AuditInputs(
            bars=leaks.make_bars(days=420),
            manifest=leaks.make_manifest(
                Universe(chosen="three random walks", as_of="now", note="None of them failed.")
            ),
            features=FeaturesConfig(families=("trend", "momentum", "volatility", "volume"), warmup_bars=120),
            windows=leaks.small_config(test_start=leaks.make_bars()["date"].max(), length=12),
            model=SMALL_MODEL,
            seed=3,
        )
    )
    assert audit.findings == ()
    assert audit.checks[0].status == "note"
    audit.save(tmp_path / "audit.json")
    assert Audit.load(tmp_path / "audit.json") == audit


def test_findings_are_named_in_one_sentence_and_marked_in_the_table():
    audit = Audit(
        (Check("split", "parts are apart", "finding", "they are not"), Check("label", "b", "ok", "fine"))
    )
    assert audit.summary == "1 of 2 checks failed: parts are apart."
    assert audit.lines()[0].startswith("FINDING  split: parts are apart  they are not")
    assert audit.lines()[1].index("fine") == audit.lines()[0].index("they are")


def test_a_broken_file_is_named(tmp_path):
    (tmp_path / "audit.json").write_text("[{}]")
    with pytest.raises(EvaluationError, match=r"audit\.json: not an audit .*candlecast audit"):
        Audit.load(tmp_path / "audit.json")
