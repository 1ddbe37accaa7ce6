from pathlib import Path

import numpy as np
import pytest
import torch
from oracle.panels import CONFIG, universe

from candlecast.windows.batch import Batch
from candlecast.windows.dataset import WindowDataset
from candlecast.windows.split import PARTS, Part
from candlecast.windows.store import WindowStore, load_windows


@pytest.fixture
def store() -> WindowStore:
    return WindowStore.build(universe(1, features=3, missing=0.05, unknown=0.02), CONFIG)


@pytest.mark.parametrize("part", PARTS)
def test_a_batch_holds_the_windows_bar_by_bar_oldest_first(store: WindowStore, part: Part) -> None:
    dataset = WindowDataset(store, part)
    order = torch.randperm(len(dataset), generator=torch.Generator().manual_seed(0))[:5]
    batch = dataset.batch(order)

    assert batch.inputs.shape == (5, 4, 3)  # B windows, T bars, F features: all different
    for position, index in enumerate(order.tolist()):
        end = store.split.part(part)[index]
        assert batch.rows[position] == end
        np.testing.assert_array_equal(batch.inputs[position], store.panel.features[end - 3 : end + 1])


def test_targets_are_standardised_and_the_direction_is_that_of_the_return_itself(store: WindowStore) -> None:
    dataset = WindowDataset(store, "train")
    batch = dataset.batch(torch.arange(len(dataset)))
    returns = store.panel.target[store.split.train]

    scale = store.standardizer
    np.testing.assert_allclose(batch.target, (returns - scale.target_mean) / scale.target_std, rtol=1e-6)
    assert batch.direction.tolist() == [1.0 if value > 0 else 0.0 for value in returns]
    assert batch.weight.tolist() == [1.0] * len(dataset)


def test_every_tensor_has_the_type_training_expects(store: WindowStore) -> None:
    batch = WindowDataset(store, "test").batch(torch.tensor([1, 0]))

    assert [tensor.dtype for tensor in (batch.inputs, batch.target, batch.direction, batch.weight)] == [
        torch.float32
    ] * 4
    assert batch.rows.dtype == torch.int64


def test_no_window_is_stored_the_panel_itself_is_viewed(tmp_path: Path, store: WindowStore) -> None:
    store.save(tmp_path)
    loaded = load_windows(tmp_path)
    dataset = WindowDataset(loaded, "train")
    loaded.panel.features[loaded.split.train[0]] = 7.0

    assert dataset.batch(torch.tensor([0])).inputs[0, -1].tolist() == [7.0] * 3


def test_later_rows_do_not_reach_a_batch(store: WindowStore) -> None:
    dataset = WindowDataset(store, "train")
    last_of_first_ticker = int((store.panel.ticker[store.split.train] == 0).sum()) - 1
    before = dataset.batch(torch.tensor([last_of_first_ticker])).inputs.clone()
    store.panel.features[store.split.train[last_of_first_ticker] + 1 :] = 1e9

    assert torch.equal(dataset.batch(torch.tensor([last_of_first_ticker])).inputs, before)


def test_the_newest_windows_have_no_target_and_can_be_asked_for() -> None:
    store = WindowStore.build(universe(2), CONFIG)
    newest = store.panel.window_ends(store.length)[-1:]
    batch = WindowDataset(store, newest).batch(torch.tensor([0]))

    assert newest.tolist() == [179]
    assert torch.isnan(batch.target).all()
    assert batch.direction.tolist() == [0.0]
    assert torch.isfinite(batch.inputs).all()


def test_a_window_that_does_not_exist_is_refused(store: WindowStore) -> None:
    dataset = WindowDataset(store, "test")

    with pytest.raises((IndexError, RuntimeError)):
        dataset.batch(torch.tensor([len(dataset)]))


def test_a_slice_of_a_batch_is_a_view_of_each_of_its_tensors(store: WindowStore) -> None:
    batch = WindowDataset(store, "train").batch(torch.arange(7))
    part = batch[2:5]

    assert isinstance(part, Batch)
    assert len(part) == 3
    for name in ("inputs", "target", "direction", "weight", "rows"):
        whole, piece = getattr(batch, name), getattr(part, name)
        assert torch.equal(piece, whole[2:5])
        assert piece.untyped_storage().data_ptr() == whole.untyped_storage().data_ptr()


def test_moving_a_batch_moves_each_of_its_tensors(store: WindowStore) -> None:
    moved = WindowDataset(store, "train").batch(torch.arange(3)).to("meta")

    tensors = (moved.inputs, moved.target, moved.direction, moved.weight, moved.rows)
    assert {tensor.device.type for tensor in tensors} == {"meta"}
