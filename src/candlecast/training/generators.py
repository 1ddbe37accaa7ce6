"""The state of every random generator, as tensors: to run a forward pass again, or to resume."""

import random

import numpy as np
import torch
from torch import Tensor


def torch_generators(device: torch.device) -> dict[str, Tensor]:
    """Return the generators a forward pass draws from; microseconds, and no wait for the device."""
    states = {"torch": torch.get_rng_state()}
    if device.type == "cuda":
        states["cuda"] = torch.cuda.get_rng_state(device)
    return states


def all_generators(device: torch.device) -> dict[str, Tensor]:
    """Return those and Python's and NumPy's global ones."""
    _, words, spare = random.getstate()
    name, keys, position, has_gauss, gauss = np.random.get_state(legacy=True)
    assert name == "MT19937"
    return {
        **torch_generators(device),
        "python": torch.tensor(words, dtype=torch.int64),
        "python_spare": torch.tensor([] if spare is None else [spare], dtype=torch.float64),
        "numpy": torch.from_numpy(np.append(keys, np.uint32(position)).astype(np.int64)),
        "numpy_spare": torch.tensor([has_gauss, gauss], dtype=torch.float64),
    }


def restore_generators(states: dict[str, Tensor], device: torch.device) -> None:
    """Put back whichever generators `states` holds."""
    torch.set_rng_state(states["torch"].cpu())
    if "cuda" in states and device.type == "cuda":
        torch.cuda.set_rng_state(states["cuda"].cpu(), device)
    if "python" in states:
        spare = states["python_spare"].tolist()
        random.setstate((3, tuple(states["python"].tolist()), spare[0] if spare else None))
        *keys, position = states["numpy"].tolist()
        has_gauss, gauss = states["numpy_spare"].tolist()
        np.random.set_state(("MT19937", np.array(keys, np.uint32), position, int(has_gauss), gauss))
