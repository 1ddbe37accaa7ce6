"""The file beside a trained model that says which MLflow run made it.

It is an output of the training stage, so a model that DVC restores brings the id of its run along.
"""

import json
from pathlib import Path

from candlecast.errors import TrackingError
from candlecast.files import write_text


def write_run(path: Path, run_id: str) -> None:
    """Write the run's id."""
    write_text(path, json.dumps({"mlflow_run_id": run_id}) + "\n")


def read_run(path: Path) -> str:
    """Return the run's id, or raise `TrackingError` naming the file."""
    try:
        return str(json.loads(path.read_text(encoding="utf-8"))["mlflow_run_id"])
    except FileNotFoundError:
        raise TrackingError(f"{path}: no such file; train a model first") from None
    except (ValueError, KeyError, TypeError):
        raise TrackingError(f"{path}: names no MLflow run; train the model again") from None
