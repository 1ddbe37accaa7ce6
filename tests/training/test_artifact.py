from pathlib import Path

import pytest
import torch
from parameters import SMALL_MODEL
from training.small import FEATURES

from candlecast.errors import DataError
from candlecast.models.hybrid import build_model
from candlecast.training.artifact import ModelDescription, load_model, read_description, save_model

NAMES = tuple(f"feature {number}" for number in range(FEATURES))


@pytest.fixture
def description() -> ModelDescription:
    return ModelDescription(model=SMALL_MODEL, feature_names=NAMES, length=20)


def test_a_model_comes_back_as_it_was_saved_and_ready_to_forecast(
    tmp_path: Path, description: ModelDescription
) -> None:
    model = build_model(description.model, FEATURES, 20)
    save_model(tmp_path, model.state_dict(), description)
    loaded = load_model(tmp_path)

    assert read_description(tmp_path) == description
    assert not loaded.training
    inputs = torch.randn(2, 20, FEATURES)
    for ours, theirs in zip(loaded(inputs), model.eval()(inputs), strict=True):
        assert torch.equal(ours, theirs)


def test_the_same_model_gives_the_same_bytes(tmp_path: Path, description: ModelDescription) -> None:
    model = build_model(description.model, FEATURES, 20)
    for name in ("one", "two"):
        save_model(tmp_path / name, model.state_dict(), description)
    for file in ("model.safetensors", "model.json"):
        assert (tmp_path / "one" / file).read_bytes() == (tmp_path / "two" / file).read_bytes()


@pytest.mark.parametrize("file", ["model.safetensors", "model.json"])
@pytest.mark.parametrize("damage", ["missing", "cut"])
def test_a_missing_or_damaged_file_is_named_with_the_remedy(
    tmp_path: Path, description: ModelDescription, file: str, damage: str
) -> None:
    save_model(tmp_path, build_model(description.model, FEATURES, 20).state_dict(), description)
    path = tmp_path / file
    data = path.read_bytes()
    path.unlink()
    if damage == "cut":
        path.write_bytes(data[: len(data) // 2])
    with pytest.raises(DataError, match=f"{file}.*dvc repro train"):
        load_model(tmp_path)


def test_weights_of_another_model_are_refused(tmp_path: Path, description: ModelDescription) -> None:
    save_model(tmp_path, {"weight": torch.zeros(2)}, description)
    with pytest.raises(DataError, match=r"model\.safetensors"):
        load_model(tmp_path)
