from pathlib import Path
from typing import Any

import pytest
from parameters import ROOT, write_params

from candlecast.errors import ParamsError
from candlecast.settings import load_settings


def test_the_committed_parameters_are_valid() -> None:
    settings = load_settings(ROOT / "params.yaml")
    assert settings.accum.windows_per_update == 128
    assert settings.windows.length == 256


def test_every_key_of_the_committed_parameters_has_a_comment() -> None:
    # A number without its unit is a guess. A list's comment stands above it, where DVC's rewriting keeps it.
    before = ""
    for line in (ROOT / "params.yaml").read_text().splitlines():
        is_section = not line.startswith("  ") or line.rstrip().endswith(":")
        is_list = line.rstrip().endswith("]")
        commented = before.strip().startswith("#") if is_list else "#" in line
        assert is_section or commented, f"params.yaml: {line.strip()} has no comment"
        before = line


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        (
            {"accum.steps": 8, "accum.effective_batch": 100},
            "accum.effective_batch: 100 is not accum.micro_batch 16 x accum.steps 8",
        ),
        ({"accum.steps": None}, "accum.steps: null needs accum.effective_batch"),
        ({"accum.micro_batch": 0}, "accum.micro_batch: must be at least 1"),
        ({"windows.horizon": 2000}, "windows.horizon: 2000 bars is longer than the test span"),
        ({"windows.test_start": "2019-01-01"}, "windows.test_start: 2019-01-01 is not between data.start"),
        ({"windows.fold": 1}, "windows.fold: 1 does not exist; windows.folds is 1, so 0 to 0"),
        ({"model.heads": 5}, "model.heads: 5 does not divide model.width 32"),
        ({"data.source": "yahoo", "data.tickers": []}, "data.tickers: empty"),
        ({"data.tickers": ["A", "A"]}, "data.tickers: A named twice"),
        ({"data.source": "files"}, "data.path: needed when data.source is files"),
        ({"train.peak_lr": "3e-4"}, "train.peak_lr: expected a number, found '3e-4'"),
        ({"train.epoch": 3}, "train.epoch: unknown key"),
        ({"training": {}}, "training: unknown section"),
        (
            {"baselines.summary_bars": [8, 512]},
            "baselines.summary_bars: 512 is longer than windows.length 256",
        ),
    ],
)
def test_a_contradiction_is_one_line_that_names_the_key(
    tmp_path: Path, overrides: dict[str, Any], message: str
) -> None:
    with pytest.raises(ParamsError) as error:
        load_settings(write_params(tmp_path / "params.yaml", overrides))
    assert str(error.value).startswith(message)
    assert "\n" not in str(error.value)


def test_steps_follow_from_the_effective_batch(tmp_path: Path) -> None:
    path = write_params(tmp_path / "params.yaml", {"accum.steps": None, "accum.effective_batch": 100})
    assert load_settings(path).accum.windows_per_update == 100
