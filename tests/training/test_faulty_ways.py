"""The right way passes one property; every faulty way, each a fault seen in a real trainer, fails it."""

import re

import pytest
import torch
from oracle.accumulation import losses
from training.faulty_ways import CLIP, FAULTY_WAYS, HALF_LIFE, OVERFLOW, Outcome, RightWay, epochs, rate
from training.small import CONFIG, small


def by_large_batches() -> Outcome:
    """Train on each effective batch at once, written out with plain autograd and plain AdamW."""
    model = small(dtype=torch.float64)
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.0, weight_decay=0.1)
    average = [parameter.detach().clone() for parameter in model.parameters()]
    outcome = Outcome(model.state_dict(), average)
    for batch in [batch for batches in epochs() for batch in batches]:
        if OVERFLOW in batch.rows:
            continue
        optimizer.param_groups[0]["lr"] = rate(len(outcome.rates))
        loss = (losses(model(batch.inputs), batch, CONFIG) * batch.weight).sum() / batch.weight.sum()
        optimizer.zero_grad()
        loss.backward()
        norm = torch.cat([parameter.grad.flatten() for parameter in model.parameters()]).norm()
        assert norm > CLIP
        for parameter in model.parameters():
            parameter.grad *= CLIP / (norm + 1e-6)  # torch's own guard against a norm of 0
        optimizer.step()
        keep = 0.5 ** (len(batch) / HALF_LIFE)
        for value, parameter in zip(average, model.parameters(), strict=True):
            value.copy_(keep * value + (1 - keep) * parameter.detach())
        outcome.rates.append(rate(len(outcome.rates)))
        outcome.losses.append(loss.item())
    return outcome


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
