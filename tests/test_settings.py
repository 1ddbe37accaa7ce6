from pathlib import Path
from typing import Any

import pytest
from parameters import ROOT, write_params

from candlecast.errors import ParamsError
from candlecast.params import LARGEST_WHOLE, read_params
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


# Keys whose size allocates nothing: a longer wait, a shorter history left over, a seed.
UNBOUNDED = {
    "seed",
    "data.min_bars",
    "data.yahoo.attempts",
    "data.yahoo.timeout",
    "data.synthetic.seed",
    "features.warmup_bars",
    "windows.validation_days",
    "windows.embargo",
    "windows.stride",
    "train.epochs",
    "train.reference_batch",
    "train.validate_every",
    "train.log_every",
    "train.noise_every",
    "train.noise_probe",
}


def whole_numbers(values: dict[str, Any], prefix: str = "") -> list[str]:
    names = []
    for key, value in values.items():
        if isinstance(value, dict):
            names += whole_numbers(value, f"{prefix}{key}.")
        elif type(value) is int:
            names.append(f"{prefix}{key}")
    return names


@pytest.mark.parametrize("key", whole_numbers(read_params(ROOT / "params.yaml")))
def test_a_size_that_no_machine_carries_is_refused_in_one_line_that_names_it(
    tmp_path: Path, key: str
) -> None:
    path = write_params(tmp_path / "params.yaml", {key: LARGEST_WHOLE})
    if key in UNBOUNDED:
        load_settings(path)
        return
    with pytest.raises(ParamsError) as error:
        load_settings(path)
    assert str(error.value).startswith(f"{key}: ") or key in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        ({"model.width": 65_536}, "model.width: 65536 with 5 blocks and 1 layers makes about"),
        (
            {"model.width": 4096, "model.layers": 1000},
            "model.width: 4096 with 5 blocks and 1000 layers makes about",
        ),
        ({"model.tcn_blocks": 18}, "model.tcn_blocks: the last of 18 blocks would reach back 262144 bars"),
        ({"accum.steps": 10**9}, "accum.steps: 1000000000 x accum.micro_batch 16 is more than 1000000"),
        ({"accum.micro_batch": "auto", "accum.steps": None, "accum.effective_batch": 10**7}, "accum.eff"),
    ],
)
def test_sizes_are_refused_together_where_each_alone_might_do(
    tmp_path: Path, overrides: dict[str, Any], message: str
) -> None:
    with pytest.raises(ParamsError) as error:
        load_settings(write_params(tmp_path / "params.yaml", overrides))
    assert str(error.value).startswith(message)
