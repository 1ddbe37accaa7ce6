from dataclasses import replace

import pytest
from training.small import CONFIG

from candlecast.errors import ParamsError
from candlecast.params import parse
from candlecast.training.config import AccumConfig


@pytest.mark.parametrize(
    ("changes", "key"),
    [
        ({"epochs": None}, "train.epochs: give exactly one"),
        ({"updates": 5}, "train.updates: give exactly one"),
        ({"epochs": None, "samples": 9, "seconds": 1.0}, "train.seconds: give exactly one"),
        ({"epochs": None, "seconds": 1.0, "processes": 2}, "train.seconds: several processes"),
        ({"epochs": 0}, "train.epochs"),
        ({"patience": 0}, "train.patience"),
        ({"huber_delta": 0.0}, "train.huber_delta"),
        ({"beta2": 1.0}, "train.beta2"),
        ({"warmup_fraction": 1.5}, "train.warmup_fraction"),
        ({"noise_probe": -1}, "train.noise_probe"),
    ],
)
def test_a_value_out_of_range_is_refused_with_its_key(changes: dict[str, object], key: str) -> None:
    with pytest.raises(ParamsError, match=key):
        replace(CONFIG, **changes)


@pytest.mark.parametrize(
    ("micro_batch", "steps", "effective_batch", "message"),
    [
        ("auto", 8, 128, "accum.steps: 8 contradicts accum.micro_batch auto"),
        ("auto", 8, None, "accum.steps: 8 contradicts accum.micro_batch auto"),
        ("auto", None, None, "accum.effective_batch: null leaves accum.micro_batch auto"),
        (16, None, None, "accum.steps: null needs accum.effective_batch"),
        (16, 8, 100, "accum.effective_batch: 100 is not accum.micro_batch 16 x accum.steps 8"),
        (0, 8, None, "accum.micro_batch: must be at least 1"),
        ("most", None, 128, "accum.micro_batch: expected a whole number or auto"),
    ],
)
def test_micro_batch_steps_and_effective_batch_must_agree(
    micro_batch: object, steps: object, effective_batch: object, message: str
) -> None:
    section = {"micro_batch": micro_batch, "steps": steps, "effective_batch": effective_batch}
    with pytest.raises(ParamsError, match=message) as raised:
        parse(section, AccumConfig, "accum")
    assert "\n" not in str(raised.value)


def test_an_open_micro_batch_still_has_an_effective_batch() -> None:
    accum = parse({"micro_batch": "auto", "steps": None, "effective_batch": 128}, AccumConfig, "accum")
    assert accum.windows_per_update == 128
    with pytest.raises(ParamsError, match="auto is still to be chosen"):
        _ = accum.windows_per_pass
