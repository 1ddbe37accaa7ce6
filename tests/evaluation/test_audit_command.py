from pathlib import Path

import pytest

from candlecast import cli
from candlecast.evaluation.audit import Audit, Check


@pytest.fixture
def audited(monkeypatch, tmp_path):
    """Run the command on an audit that ends with the given checks; return its exit status."""
    monkeypatch.setattr("candlecast.schema.read_frame", lambda path, schema: None)
    monkeypatch.setattr("candlecast.data.manifest.read_manifest", lambda path: None)
    params = Path(__file__).parents[2] / "params.yaml"

    def run(*checks: Check) -> object:
        monkeypatch.setattr(
            "candlecast.evaluation.run_audit.run_audit", lambda inputs, progress: Audit(checks)
        )
        try:
            cli.main(["audit", "--params", str(params), "--output", str(tmp_path / "audit.json")])
        except SystemExit as ending:
            return ending.code
        return 0

    return run


def test_a_clean_audit_prints_its_table_and_writes_it(audited, tmp_path, capsys):
    assert audited(Check("split", "parts are apart", "ok", "they are")) == 0
    output = capsys.readouterr().out
    assert "ok       split: parts are apart  they are" in output
    assert "None of 1 checks found a way" in output
    assert len(Audit.load(tmp_path / "audit.json").checks) == 1


def test_a_finding_ends_with_an_error_that_names_it(audited, tmp_path, capsys):
    code = audited(Check("split", "parts are apart", "finding", "they are not"))
    assert code == "error: 1 of 1 checks failed: parts are apart."
    assert "FINDING" in capsys.readouterr().out
    assert Audit.load(tmp_path / "audit.json").findings
