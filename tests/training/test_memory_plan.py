import pytest
from training.memory_settings import setting
from training.small import recipe

from candlecast.errors import ParamsError
from candlecast.models.config import ModelConfig
from candlecast.training.memory_plan import (
    GIB,
    MIB,
    Choice,
    MemoryPlan,
    format_size,
    parse_size,
    plan_memory,
    plan_settings,
)
from candlecast.training.rehearsal import Workload


def plan(budget: float, effective_batch: int = 128, margin: float = 0.0) -> MemoryPlan:
    return plan_settings((setting(),), budget * MIB, effective_batch, margin)


def choice(budget: float, effective_batch: int = 128, margin: float = 0.0) -> tuple[int, int, int]:
    (chosen,) = plan(budget, effective_batch, margin).choices
    return chosen.largest, chosen.micro_batch, chosen.steps


def test_the_largest_micro_batch_fills_the_budget() -> None:
    assert choice(50 + 2 * 32) == (32, 32, 4)


def test_of_micro_batches_with_as_few_steps_the_smallest_is_chosen() -> None:
    assert choice(50 + 2 * 50) == (50, 43, 3)
    assert choice(50 + 2 * 127) == (127, 64, 2)


def test_the_effective_batch_at_once_is_the_most_there_is() -> None:
    assert choice(10_000) == (128, 128, 1)


def test_nothing_is_chosen_where_not_even_one_window_fits() -> None:
    assert choice(51) == (0, 0, 0)
    assert choice(52) == (1, 1, 128)


def test_the_margin_stays_free() -> None:
    assert choice((50 + 2 * 32) / 0.75, margin=0.25) == (32, 32, 4)


def test_rows_are_the_powers_of_two_the_effective_batch_and_the_choice() -> None:
    rows = plan(50 + 2 * 14, effective_batch=36).rows
    assert [row.micro_batch for row in rows] == [1, 2, 4, 8, 12, 16, 32, 36]
    assert [row.steps for row in rows] == [36, 18, 9, 5, 3, 3, 2, 1]
    assert [row.fits for row in rows] == [True] * 5 + [False] * 3
    assert [row.memory.total / MIB for row in rows] == [50 + 2 * row.micro_batch for row in rows]


def test_accumulation_costs_one_gradient_copy() -> None:
    assert plan(100).gradient_copy == 10 * MIB


def test_a_plan_probes_every_precision_with_and_without_checkpointing() -> None:
    model = ModelConfig(
        width=4,
        tcn_blocks=2,
        kernel_size=2,
        layers=1,
        heads=1,
        dropout=0.0,
        norm="layer",
        checkpoint_activations=True,
    )
    workload = Workload(model=model, recipe=recipe(), num_features=3, length=32)
    full = plan_memory(workload, budget=1 * MIB, effective_batch=64)
    peaks = {
        (row.precision, row.checkpoint_activations): row.memory.total
        for row in full.rows
        if row.micro_batch == 64
    }
    assert list(peaks) == [("fp32", False), ("fp32", True), ("bf16", False), ("bf16", True)]
    assert peaks["fp32", False] > peaks["fp32", True] > peaks["bf16", True]
    assert peaks["fp32", False] > peaks["bf16", False] > peaks["bf16", True]
    assert all(isinstance(chosen, Choice) and chosen.largest >= 1 for chosen in full.choices)


@pytest.mark.parametrize(
    ("text", "size"),
    [("24GiB", 24 * GIB), ("512 MiB", 512 * MIB), ("8GB", 8 * 10**9), ("1.5 gib", GIB * 3 // 2), ("64", 64)],
)
def test_sizes_are_read_in_binary_and_decimal_units(text: str, size: int) -> None:
    assert parse_size(text) == size


@pytest.mark.parametrize("text", ["", "lots", "-1GiB", "0", "24 parsecs", "GiB"])
def test_a_size_that_is_none_is_an_error_with_an_example(text: str) -> None:
    with pytest.raises(ParamsError, match="no size in memory; give one such as 24GiB"):
        parse_size(text)


def test_sizes_are_written_in_the_largest_unit_below_them() -> None:
    assert [format_size(size) for size in (12, 2048, 1.5 * MIB, 24 * GIB)] == [
        "12 B",
        "2.0 KiB",
        "1.5 MiB",
        "24.0 GiB",
    ]
