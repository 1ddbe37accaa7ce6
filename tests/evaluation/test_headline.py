import json
from pathlib import Path

import pytest

from candlecast.evaluation.headline import SCORES, headline, write_headline


def scores(accuracy: float, r2: float) -> dict[str, float]:
    return {**dict.fromkeys(SCORES, 0.5), "directional_accuracy": accuracy, "out_of_sample_r2_score": r2}


def test_skill_is_the_distance_to_the_best_baseline_of_each_score(tmp_path: Path) -> None:
    # The best of one score need not be the best of the other.
    baselines = {"a": scores(0.55, -0.04), "b": scores(0.45, 0.0), "c": scores(0.5, -1.0)}
    metrics = {"test": scores(0.53, 0.01), "validation": scores(0.9, 0.9), "baselines": baselines}
    found = headline(metrics)  # type: ignore[arg-type]
    assert found["directional_accuracy"] == 0.53
    assert found["directional_accuracy_beyond_best_baseline_score"] == pytest.approx(-0.02)
    assert found["out_of_sample_r2_beyond_best_baseline_score"] == pytest.approx(0.01)
    assert all(name.endswith(("_accuracy", "_score", "_error")) for name in found)
    write_headline(tmp_path / "headline.json", metrics)  # type: ignore[arg-type]
    assert json.loads((tmp_path / "headline.json").read_text()) == found
