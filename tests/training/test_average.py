from dataclasses import replace

import torch
from training.small import CONFIG, recipe, small

from candlecast.training.average import WeightAverage
from candlecast.training.loop import train
from candlecast.windows.dataset import WindowDataset
from candlecast.windows.store import WindowStore


def test_half_of_the_average_is_older_than_the_half_life_whatever_the_batch() -> None:
    for windows in (4, 20, 100):
        model = small()
        average = WeightAverage(model, half_life=100)
        with torch.no_grad():
            for parameter in model.parameters():
                parameter.fill_(1.0)
        start = [value.clone() for value in average.values]
        for _ in range(100 // windows):
            average.update(windows)
        for value, initial in zip(average.values, start, strict=True):
            torch.testing.assert_close(value, (1.0 + initial) / 2)


def test_the_model_has_the_average_only_for_a_while() -> None:
    model = small()
    average = WeightAverage(model, half_life=10)
    with torch.no_grad():
        model.conv.weight.add_(1.0)
    own = model.conv.weight.detach().clone()
    with average.in_place():
        assert torch.equal(model.conv.weight, small().conv.weight)
    assert torch.equal(model.conv.weight, own)


def test_without_a_half_life_it_is_the_model_itself() -> None:
    model = small()
    average = WeightAverage(model, half_life=None)
    average.update(10)
    assert average.values == []
    with average.in_place():
        assert torch.equal(model.conv.weight, small().conv.weight)


def test_validation_and_the_best_weights_are_the_averaged_ones(store: WindowStore) -> None:
    model = small()
    sets = WindowDataset(store, "train"), WindowDataset(store, "validation")
    result = train(
        model, *sets, recipe(replace(CONFIG, ema_half_life=30, peak_lr=0.1, epochs=1, validate_every=10**6))
    )
    reference, weights = small(), []
    train(reference, *sets, recipe(replace(CONFIG, peak_lr=0.1, epochs=1)))

    assert all(map(torch.equal, model.parameters(), reference.parameters()))  # averaging only watches
    assert result.validations[-1].best
    for name, parameter in model.named_parameters():
        weights.append(torch.equal(result.best_state[name], parameter))
    assert not any(weights)
