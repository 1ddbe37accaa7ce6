"""The right way passes one property; every faulty way, each a fault seen in a real trainer, fails it."""

import re

import pytest
import torch
from training.faulty_ways import FAULTY_WAYS, Outcome, RightWay, by_large_batches


@pytest.fixture(scope="module")
def expected() -> Outcome:
    return by_large_batches()


def assert_same_training(ours: Outcome, expected: Outcome) -> None:
    assert ours.rates == expected.rates
    assert ours.losses == pytest.approx(expected.losses, rel=1e-12)
    for name, tensor in expected.weights.items():
        torch.testing.assert_close(ours.weights[name], tensor, rtol=1e-9, atol=1e-10)
    for value, theirs in zip(ours.average, expected.average, strict=True):
        torch.testing.assert_close(value, theirs, rtol=1e-9, atol=1e-10)


def test_the_right_way_trains_as_large_batches_do(expected: Outcome) -> None:
    assert_same_training(RightWay().run(), expected)


def sentence(name: str) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()


@pytest.mark.parametrize("way", FAULTY_WAYS, ids=lambda way: sentence(way.__name__))
def test_a_faulty_way_does_not(way: type[RightWay], expected: Outcome) -> None:
    with pytest.raises((AssertionError, RuntimeError)):  # RuntimeError: torch itself refuses
        assert_same_training(way().run(), expected)
