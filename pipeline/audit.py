"""Audit features, label, split, scale, model and training for ways in which the future could leak in."""

import logging
from pathlib import Path

from candlecast.data.manifest import read_manifest
from candlecast.evaluation.run_audit import AuditInputs, run_audit
from candlecast.features.config import FeaturesConfig
from candlecast.models.config import ModelConfig
from candlecast.params import load_params
from candlecast.schema import BARS, read_frame
from candlecast.stage import run_stage
from candlecast.windows.config import WindowsConfig


def main() -> None:
    """Write the audit, findings included: the report shows them, `candlecast audit` fails on them."""
    seed = load_params("seed", int)
    inputs = AuditInputs(
        bars=read_frame(Path("data/raw/bars.parquet"), BARS),
        manifest=read_manifest(Path("data/raw/manifest.json")),
        features=load_params("features", FeaturesConfig),
        windows=load_params("windows", WindowsConfig),
        model=load_params("model", ModelConfig),
        seed=seed,
    )
    audit = run_audit(inputs)
    audit.save(Path("reports/audit.json"))
    for check in audit.findings:
        logging.warning("FINDING: %s: %s: %s", check.area, check.name, check.detail)


if __name__ == "__main__":
    run_stage(main)
