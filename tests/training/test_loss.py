from dataclasses import replace

import torch
from oracle.accumulation import losses
from training.small import CONFIG, random_batch, small

from candlecast.training.loss import make_loss_sum, window_losses
from candlecast.training.precision import make_precision


def test_each_window_costs_what_the_definition_says() -> None:
    model, batch = small(dtype=torch.float64), random_batch(9)
    batch.target[0] = 40.0  # in Huber's linear part
    forecast = model(batch.inputs)
    torch.testing.assert_close(window_losses(forecast, batch, CONFIG), losses(forecast, batch, CONFIG))


def test_the_sum_weighs_each_window() -> None:
    model, batch = small(), random_batch(9, dtype=torch.float32)
    loss_sum = make_loss_sum(model, CONFIG, make_precision("fp32", torch.device("cpu")))
    expected = (losses(model(batch.inputs), batch, CONFIG) * batch.weight).sum()
    torch.testing.assert_close(loss_sum(batch), expected)


def test_the_loss_itself_is_never_in_half_precision() -> None:
    model, batch = small(), random_batch(9, dtype=torch.float32)
    loss_sum = make_loss_sum(model, CONFIG, make_precision("bf16", torch.device("cpu")))
    assert loss_sum(batch).dtype == torch.float32


def test_without_direction_weight_the_direction_costs_nothing() -> None:
    model, batch = small(dtype=torch.float64), random_batch(4)
    config = replace(CONFIG, direction_weight=0.0, huber_delta=100.0)
    forecast = model(batch.inputs)
    torch.testing.assert_close(
        window_losses(forecast, batch, config), (forecast.mean - batch.target).square() / 2
    )
