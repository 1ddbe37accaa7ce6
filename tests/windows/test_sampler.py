import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from oracle.panels import CONFIG, universe

from candlecast.windows.dataset import WindowDataset
from candlecast.windows.sampler import effective_batches, epoch_order
from candlecast.windows.store import WindowStore


@pytest.fixture(scope="module")
def dataset() -> WindowDataset:
    return WindowDataset(WindowStore.build(universe(1), CONFIG), "train")


@given(num_windows=st.integers(0, 300), seed=st.integers(0, 2**40), epoch=st.integers(0, 50))
def test_the_order_is_a_permutation_and_depends_on_its_arguments_alone(
    num_windows: int, seed: int, epoch: int
) -> None:
    order = epoch_order(num_windows, seed, epoch)
    torch.randn(3)

    assert order.sort().values.tolist() == list(range(num_windows))
    assert torch.equal(order, epoch_order(num_windows, seed, epoch))


def test_every_seed_and_epoch_has_its_own_order() -> None:
    orders = {tuple(epoch_order(50, seed, epoch).tolist()) for seed in range(8) for epoch in range(8)}

    assert len(orders) == 64


def test_drawing_an_order_does_not_move_the_global_generator() -> None:
    before = torch.get_rng_state()
    epoch_order(100, 1, 2)

    assert torch.equal(torch.get_rng_state(), before)


@given(effective_batch=st.integers(1, 100), data=st.data())
def test_batches_carry_the_order_on_from_any_point_and_drop_nothing(
    effective_batch: int, data: st.DataObject, dataset: WindowDataset
) -> None:
    order = epoch_order(len(dataset), 3, 1)
    start = data.draw(st.integers(0, len(order)))
    batches = list(effective_batches(dataset, order, effective_batch, start))

    rows = [row for batch in batches for row in batch.rows.tolist()]
    assert rows == dataset.batch(order[start:]).rows.tolist()
    assert all(len(batch) == effective_batch for batch in batches[:-1])
    assert all(1 <= len(batch) <= effective_batch for batch in batches)


def test_a_resumed_epoch_yields_the_batches_that_were_left(dataset: WindowDataset) -> None:
    order = epoch_order(len(dataset), 3, 1)
    whole = list(effective_batches(dataset, order, 16))
    resumed = list(effective_batches(dataset, order, 16, start=32))

    assert len(whole) == 6  # 87 windows: five of 16 and one of 7
    assert len(whole[-1]) == 7
    for expected, batch in zip(whole[2:], resumed, strict=True):
        assert torch.equal(batch.inputs, expected.inputs)
