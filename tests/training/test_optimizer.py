from dataclasses import replace

import pytest
from training.small import CONFIG, recipe, small

from candlecast.training.optimizer import make_optimizer, set_learning_rate


def test_matrices_decay_and_vectors_do_not() -> None:
    model = small()
    optimizer = make_optimizer(model, recipe())
    decay = {id(p): group["weight_decay"] for group in optimizer.param_groups for p in group["params"]}
    assert len(decay) == len(list(model.parameters()))
    for name, parameter in model.named_parameters():
        assert decay[id(parameter)] == (0.05 if parameter.ndim >= 2 else 0.0), name


def test_a_frozen_parameter_is_left_out() -> None:
    model = small()
    model.conv.weight.requires_grad_(False)
    optimizer = make_optimizer(model, recipe())
    assert all(p is not model.conv.weight for group in optimizer.param_groups for p in group["params"])


@pytest.mark.parametrize(("rule", "factor"), [("none", 1.0), ("sqrt", 2.0), ("linear", 4.0)])
def test_the_peak_rate_scales_with_the_effective_batch_only_when_asked(rule: str, factor: float) -> None:
    config = replace(CONFIG, lr_scaling=rule, reference_batch=32)
    optimizer = make_optimizer(small(), recipe(config, micro_batch=16, steps=8))
    assert optimizer.param_groups[0]["lr"] == pytest.approx(factor * CONFIG.peak_lr)


def test_a_half_life_in_windows_gives_beta2_to_the_power_of_the_batches_ratio() -> None:
    config = replace(CONFIG, beta2_half_life=5000)
    betas = [
        make_optimizer(small(), recipe(config, micro_batch=size, steps=1)).param_groups[0]["betas"][1]
        for size in (16, 128)
    ]
    assert betas[1] == pytest.approx(betas[0] ** (128 / 16))
    assert betas[0] ** (5000 / 16) == pytest.approx(0.5)


def test_every_group_gets_the_rate() -> None:
    optimizer = make_optimizer(small(), recipe())
    set_learning_rate(optimizer, 0.125)
    assert [group["lr"] for group in optimizer.param_groups] == [0.125, 0.125]
