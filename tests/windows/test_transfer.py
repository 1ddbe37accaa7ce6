import pytest
import torch
from oracle.panels import CONFIG, universe

from candlecast.windows.dataset import WindowDataset
from candlecast.windows.sampler import effective_batches, epoch_order
from candlecast.windows.store import WindowStore
from candlecast.windows.transfer import one_ahead, panel_device, prefetched

needs_cuda = pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
TENSORS = ("inputs", "target", "direction", "weight", "rows")


@pytest.fixture(scope="module")
def store() -> WindowStore:
    return WindowStore.build(universe(1), CONFIG)


@pytest.mark.parametrize(("free", "expected"), [(180 * 3 * 4 * 4, "cuda"), (180 * 3 * 4 * 4 - 4, "cpu")])
def test_the_panel_goes_to_the_accelerator_up_to_a_quarter_of_its_free_memory(
    store: WindowStore, free: int, expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda device: (free, 2 * free))

    assert panel_device(store, "cuda").type == expected
    assert panel_device(store, "cpu").type == "cpu"


@pytest.mark.parametrize("num_items", [0, 1, 2, 5])
def test_an_item_is_yielded_once_the_next_is_started(num_items: int) -> None:
    started: list[int] = []

    def start(item: int) -> int:
        started.append(item)
        return -item

    seen = []
    for item in one_ahead(range(num_items), start):
        assert len(started) == min(len(seen) + 2, num_items)
        seen.append(item)
    assert seen == [-item for item in range(num_items)]
    assert started == list(range(num_items))


def test_batches_already_in_place_pass_through_as_they_are(store: WindowStore) -> None:
    batches = list(effective_batches(WindowDataset(store, "train"), torch.arange(40), 16))

    for batch, passed in zip(batches, prefetched(batches, "cpu"), strict=True):
        assert all(getattr(passed, name) is getattr(batch, name) for name in TENSORS)


def test_batches_are_moved_to_another_device(store: WindowStore) -> None:
    batches = effective_batches(WindowDataset(store, "train"), torch.arange(40), 16)

    moved = list(prefetched(batches, "meta"))
    assert [len(batch) for batch in moved] == [16, 16, 8]
    assert {getattr(batch, name).device.type for batch in moved for name in TENSORS} == {"meta"}


@pytest.mark.gpu
@needs_cuda
@pytest.mark.parametrize("panel_on", ["cpu", "cuda"])
def test_batches_on_cuda_are_those_of_the_processor(store: WindowStore, panel_on: str) -> None:
    order = epoch_order(len(store.split.train), 1, 0)
    expected = effective_batches(WindowDataset(store, "train"), order, 16)
    batches = effective_batches(WindowDataset(store, "train", panel_on), order, 16)

    for plain, batch in zip(expected, prefetched(batches, "cuda"), strict=True):
        assert batch.inputs.device.type == "cuda"
        assert all(torch.equal(getattr(batch, name).cpu(), getattr(plain, name)) for name in TENSORS)
