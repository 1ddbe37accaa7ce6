"""The few numbers that tell two runs apart in a terminal: what `dvc metrics diff` and `dvc exp show` print.

metrics.json holds every score of every model, too many columns for a table.
"""

import json
from pathlib import Path
from typing import Final

from candlecast.evaluation.evaluate import Metrics
from candlecast.files import write_text

SCORES: Final = (
    "log_loss_error",
    "directional_accuracy",
    "balanced_accuracy",
    "roc_auc_score",
    "out_of_sample_r2_score",
    "pooled_rank_information_coefficient_score",
)


def headline(metrics: Metrics) -> dict[str, float]:
    """Return the network's main test scores, and how far two of them lie above the best baseline's."""
    test, baselines = metrics["test"], metrics["baselines"].values()
    scores = {name: test[name] for name in SCORES}
    for name in ("directional_accuracy", "out_of_sample_r2_score"):
        best = max(baseline[name] for baseline in baselines)
        scores[f"{name.removesuffix('_score')}_beyond_best_baseline_score"] = test[name] - best
    return scores


def write_headline(path: Path, metrics: Metrics) -> None:
    """Write the headline as JSON, the same bytes for the same scores."""
    write_text(path, json.dumps(headline(metrics), indent=2, allow_nan=False) + "\n")
