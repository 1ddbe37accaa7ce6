from pathlib import Path

import pytest
import torch
from training.small import FEATURES, LENGTH, recipe

from candlecast.errors import DataError
from candlecast.models.config import ModelConfig
from candlecast.training.memory_plan import GIB, plan_memory
from candlecast.training.memory_record import read_memory, record_memory, write_memory
from candlecast.training.rehearsal import Workload

MODEL = ModelConfig(
    width=8,
    tcn_blocks=1,
    kernel_size=3,
    layers=1,
    heads=2,
    dropout=0.0,
    norm="layer",
    checkpoint_activations=False,
)
WORKLOAD = Workload(model=MODEL, recipe=recipe(), num_features=FEATURES, length=LENGTH)


def test_the_record_is_what_the_plan_says_of_the_settings(tmp_path: Path) -> None:
    record = record_memory(WORKLOAD, 4, torch.device("cpu"))
    plan = plan_memory(WORKLOAD, GIB, 12, precisions=("fp32",), checkpointing=(False,))
    (row,) = (row for row in plan.rows if row.micro_batch == 4)
    assert record.predicted == row.memory
    assert (record.precision, record.micro_batch, record.effective_batch) == ("fp32", 4, 12)
    assert record.measured is None
    write_memory(tmp_path, record)
    assert read_memory(tmp_path) == record


def test_an_earlier_training_without_a_record_is_no_fault(tmp_path: Path) -> None:
    assert read_memory(tmp_path) is None


@pytest.mark.parametrize("text", ["", "[]", '{"predicted": {}}', '{"precision": "fp32"}'])
def test_a_broken_record_is_named_with_the_remedy(tmp_path: Path, text: str) -> None:
    (tmp_path / "memory.json").write_text(text)
    with pytest.raises(DataError, match=r"memory\.json: not a record of memory .*dvc repro"):
        read_memory(tmp_path)
