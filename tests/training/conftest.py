import pytest
import torch
from training.small import small_store

from candlecast.windows.store import WindowStore


@pytest.fixture(autouse=True)
def one_thread() -> None:
    torch.set_num_threads(1)


@pytest.fixture(scope="session")
def store() -> WindowStore:
    return small_store()
