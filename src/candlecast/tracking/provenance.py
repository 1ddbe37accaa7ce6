"""Where a result comes from, as label and value, for the report. Imports no mlflow."""

from collections.abc import Mapping
from pathlib import Path

from candlecast.seeding import environment
from candlecast.tracking.identity import code_state
from candlecast.tracking.run_file import read_run


def provenance(environ: Mapping[str, str], here: Path, data_sha256: str, run_file: Path) -> dict[str, str]:
    """Return commit, data, experiment, run, versions and hardware."""
    code = code_state(here)
    commit = code.commit or "unknown: not a git repository"
    return {
        "commit": f"{commit}, with uncommitted changes" if code.dirty else commit,
        "bars (SHA-256)": data_sha256,
        "DVC experiment": environ.get("DVC_EXP_NAME", "none: dvc repro"),
        "MLflow run": read_run(run_file),
        **environment(),
    }
