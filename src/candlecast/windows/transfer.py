"""Windows on their way to an accelerator.

A panel that fits there lives there, and batches are gathered where they are used: only indices cross the bus.
The batches of one that does not are gathered in main memory, in page-locked pages, and copied on a stream of
their own while the batch before is being used.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Final, TypeVar

import torch

from candlecast.windows.batch import Batch
from candlecast.windows.store import WindowStore

_PANEL_SHARE: Final = 0.25  # of the accelerator's free memory; the rest is the model's

Item = TypeVar("Item")
Started = TypeVar("Started")


def panel_device(store: WindowStore, device: torch.device | str) -> torch.device:
    """Return where the panel should live for a model on `device`: there, or in main memory if too large."""
    device = torch.device(device)
    if device.type != "cuda":
        return device
    free, _ = torch.cuda.mem_get_info(device)
    return device if store.panel.features.nbytes <= _PANEL_SHARE * free else torch.device("cpu")


def prefetched(batches: Iterable[Batch], device: torch.device | str) -> Iterator[Batch]:
    """Yield the batches on `device`, in their order; from main memory to CUDA the next one is under way.

    A batch that is there already passes through as it is.
    """
    device = torch.device(device)
    if device.type != "cuda":
        yield from (batch.to(device) for batch in batches)
        return
    copier = _CudaCopier(device)
    for batch in one_ahead(batches, copier.start):
        yield copier.finish(batch)


def one_ahead(items: Iterable[Item], start: Callable[[Item], Started]) -> Iterator[Started]:
    """Yield start(item) for each item, each only once the next one is started."""
    waiting: list[Started] = []
    for item in items:
        waiting.append(start(item))
        if len(waiting) == 2:
            yield waiting.pop(0)
    yield from waiting


class _CudaCopier:
    def __init__(self, device: torch.device) -> None:
        self.device = device
        self.stream = torch.cuda.Stream(device)  # type: ignore[no-untyped-call]  # torch leaves it bare

    def start(self, batch: Batch) -> tuple[Batch, torch.cuda.Event | None]:
        if batch.inputs.device.type == "cuda":
            return batch, None
        with torch.cuda.stream(self.stream):
            copy = batch.pin_memory().to(self.device, non_blocking=True)
            return copy, self.stream.record_event()

    def finish(self, started: tuple[Batch, torch.cuda.Event | None]) -> Batch:
        """Have the current stream wait for the copy; the host does not."""
        copy, arrived = started
        if arrived is not None:
            current = torch.cuda.current_stream(self.device)
            current.wait_event(arrived)
            copy.record_stream(current)
        return copy
