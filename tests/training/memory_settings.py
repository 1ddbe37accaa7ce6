"""Settings with round figures, so that a plan can be worked out by hand."""

from candlecast.training.memory import MemoryModel, MemorySplit
from candlecast.training.memory_plan import MIB, Setting
from candlecast.training.precision import Name


def split(**megabytes: float) -> MemorySplit:
    parts = {
        "parameters": 0.0,
        "gradients": 0.0,
        "optimizer": 0.0,
        "activations": 0.0,
        "inputs": 0.0,
        "copies": 0.0,
    }
    return MemorySplit(**{name: MIB * value for name, value in (parts | megabytes).items()})


def setting(precision: Name = "fp32", checkpoint: bool = False, per_window: float = 2.0) -> Setting:
    """10 MiB of weights and as much of gradients, 20 of moments, 10 of copies: 50 and 2 a window."""
    fixed = split(parameters=10, gradients=10, optimizer=20, copies=10)
    growth = split(activations=per_window)
    memory = MemoryModel(fixed=fixed, per_window=growth, floor=fixed + growth, input_bytes=0)
    return Setting(precision=precision, checkpoint_activations=checkpoint, memory=memory)
