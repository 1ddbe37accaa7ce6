from collections.abc import Callable

import pytest

from candlecast.data.config import DataConfig
from candlecast.errors import ParamsError


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("synthetic.seed", -1),
        ("synthetic.bars", 50_000_000),
        ("max_gap", 10_001),
        ("checks.run_length", 10_001),
    ],
)
def test_absurd_numbers_are_refused_by_their_key(
    data_config: Callable[..., DataConfig], key: str, value: int
) -> None:
    with pytest.raises(ParamsError) as caught:
        data_config(**{key.replace(".", "__"): value})
    assert str(caught.value).startswith(f"data.{key}: ")
    assert "\n" not in str(caught.value)


def test_the_largest_numbers_still_pass(data_config: Callable[..., DataConfig]) -> None:
    config = data_config(max_gap=10_000, checks__run_length=10_000, synthetic__seed=0)
    assert (config.max_gap, config.checks.run_length, config.synthetic.seed) == (10_000, 10_000, 0)
