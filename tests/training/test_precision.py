import pytest
import torch
from torch import nn

from candlecast.training.precision import make_precision

CPU = torch.device("cpu")


@pytest.mark.parametrize(("name", "dtype"), [("fp32", "float32"), ("bf16", "bfloat16"), ("fp16", "float16")])
def test_matrix_products_run_in_the_named_format(name: str, dtype: str) -> None:
    precision = make_precision(name, CPU)
    with precision.autocast():
        assert nn.Linear(3, 2)(torch.ones(4, 3)).dtype == getattr(torch, dtype)


def test_auto_is_float32_on_a_cpu() -> None:
    assert make_precision("auto", CPU).name == "fp32"


@pytest.mark.parametrize(("name", "scales"), [("fp32", False), ("bf16", False), ("fp16", True)])
def test_only_float16_scales_the_loss(name: str, scales: bool) -> None:
    assert make_precision(name, CPU).scaler.is_enabled() == scales


def test_each_micro_batch_gets_its_own_context() -> None:
    precision = make_precision("bf16", CPU)
    assert precision.autocast() is not precision.autocast()
