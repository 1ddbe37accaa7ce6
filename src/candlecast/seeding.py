"""Seed every generator, and describe the environment a result came from."""

import platform
import random
from importlib.metadata import version

import numpy as np
import torch


def seed_everything(seed: int) -> None:
    """Seed Python's, NumPy's and torch's global generators, and ask torch for deterministic kernels."""
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)
    torch.use_deterministic_algorithms(True, warn_only=True)


def environment() -> dict[str, str]:
    """Return the versions and hardware that a result depends on."""
    packages = ("torch", "numpy", "polars", "scikit-learn", "dvc", "mlflow", "yfinance")
    return {
        "python": platform.python_version(),
        **{name: version(name) for name in packages},
        "hardware": hardware(),
    }


def hardware() -> str:
    """Return the accelerator's name, or the processor's architecture and thread count."""
    if torch.cuda.is_available():
        return torch.cuda.get_device_name()
    return f"{platform.machine()} CPU, {torch.get_num_threads()} threads"
