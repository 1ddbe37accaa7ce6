from dataclasses import replace

import pytest
from training.small import CONFIG

from candlecast.errors import ParamsError


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
