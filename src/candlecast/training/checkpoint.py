"""Where a training stood on an update boundary, to continue as if it had never stopped.

One safetensors file: weights, optimiser moments, averages, the best weights and every generator as
tensors; counters, scaler and records as JSON in its header. No pickle. It is written beside its place and
renamed, so a crash or a full disk leaves the checkpoint before. The folder's name is a hash of everything
the training depends on, so that a checkpoint never leaks into another configuration; it is no output of
the pipeline, which would delete it before the rerun that needs it.
"""

import hashlib
import json
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import safetensors.torch
from torch import Tensor

from candlecast.errors import TrainingError
from candlecast.files import replacing
from candlecast.training.budget import Counters
from candlecast.training.generators import all_generators, restore_generators
from candlecast.training.records import NoiseEstimate, UpdateRecord, ValidationRecord
from candlecast.training.state import TrainingState

FILE = "checkpoint.safetensors"
FORMAT = 1


def checkpoint_key(settings: Mapping[str, Any], files: Iterable[Path]) -> str:
    """Return a hash of the settings (anything JSON or `str` can write) and of each file's name and bytes."""
    digest = hashlib.sha256(json.dumps(settings, sort_keys=True, default=str).encode())
    for path in sorted(files):
        digest.update(f"\n{path.name} ".encode())
        with path.open("rb") as file:
            digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()[:20]


class Checkpoints:
    """The checkpoint of one training; the folder may hold the caller's own notes beside it."""

    def __init__(self, root: Path, key: str) -> None:
        self.folder = root / key
        self._saved_at = 0.0  # seconds of training

    @property
    def path(self) -> Path:
        """Return the file, whether it exists or not."""
        return self.folder / FILE

    def due(self, state: TrainingState, interval: float) -> bool:
        """Say whether `interval` seconds of training went by since the last one."""
        return state.stopwatch.seconds() - self._saved_at >= interval

    def save(self, state: TrainingState) -> None:
        """Write the state; every process must call it, the first one writes.

        Raises
        ------
        OSError
            It cannot be written; the one before it still stands.
        """
        generators = _gathered_generators(state)
        self._saved_at = state.stopwatch.seconds()
        if state.processes.first:
            tensors = {name: tensor.detach().cpu().contiguous() for name, tensor in _tensors(state).items()}
            header = {"candlecast": json.dumps(_header(state))}
            data = safetensors.torch.save({**tensors, **generators}, header)
            with replacing(self.path) as temporary:
                temporary.write_bytes(data)

    def restore(self, state: TrainingState) -> bool:
        """Bring `state` to where the checkpoint stood; False where there is none.

        The first process reads, so the others need not see its disk.

        Raises
        ------
        TrainingError
            The file is damaged or of another version.
        """
        found = state.processes.first and self.path.exists()
        data = state.processes.from_first(self.path.read_bytes() if found else b"", state.device)
        if not data:
            return False
        try:
            header = _read_header(data)
            tensors = safetensors.torch.load(data)
        except (safetensors.SafetensorError, ValueError, KeyError) as error:
            raise TrainingError(f"{self.path}: cannot be read ({error}); delete it to start over") from None
        if header["format"] != FORMAT:
            raise TrainingError(f"{self.path}: format {header['format']}; delete it to start over")
        _restore_tensors(state, tensors)
        _restore_header(state, header)
        self._saved_at = state.stopwatch.seconds()
        return True

    def remove(self) -> None:
        """Delete the folder: what it was kept for has succeeded."""
        shutil.rmtree(self.folder, ignore_errors=True)


def _tensors(state: TrainingState) -> dict[str, Tensor]:
    named = {f"model.{name}": tensor for name, tensor in state.model.state_dict().items()}
    named |= {f"best.{name}": tensor for name, tensor in state.best.state.items()}
    named |= {f"average.{index}": tensor for index, tensor in enumerate(state.average.values)}
    for index, moments in state.optimizer.state_dict()["state"].items():
        named |= {f"optimizer.{index}.{name}": tensor for name, tensor in moments.items()}
    return named


def _gathered_generators(state: TrainingState) -> dict[str, Tensor]:
    """Return every process's generators; each draws its own dropout."""
    return {
        f"generators.{rank}.{name}": theirs
        for name, own in all_generators(state.device).items()
        for rank, theirs in enumerate(state.processes.gather(own, state.device))
    }


def _header(state: TrainingState) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "counters": asdict(state.counters),
        "best": [state.best.loss, state.best.update, state.best.samples_seen],
        "scaler": state.precision.scaler.state_dict(),
        "noise": state.noise.state(),
        "micro_batch": state.micro_batch,
        "seconds": state.stopwatch.seconds(),
        "outcome": state.outcome,
        "updates": [asdict(record) for record in state.updates],
        "validations": [asdict(record) for record in state.validations],
    }


def _read_header(data: bytes) -> Any:
    length = int.from_bytes(data[:8], "little")
    return json.loads(json.loads(data[8 : 8 + length])["__metadata__"]["candlecast"])


def _restore_tensors(state: TrainingState, tensors: dict[str, Tensor]) -> None:
    def under(prefix: str) -> dict[str, Tensor]:
        return {
            name.removeprefix(prefix): tensor for name, tensor in tensors.items() if name.startswith(prefix)
        }

    state.model.load_state_dict(under("model."))
    state.best.state = {name: tensor.to(state.device) for name, tensor in under("best.").items()}
    for index, tensor in under("average.").items():
        state.average.values[int(index)].copy_(tensor)
    moments: dict[int, dict[str, Tensor]] = {}
    for name, tensor in under("optimizer.").items():
        index, kind = name.split(".")
        moments.setdefault(int(index), {})[kind] = tensor
    groups = state.optimizer.state_dict()["param_groups"]
    state.optimizer.load_state_dict({"state": moments, "param_groups": groups})
    if own := under(f"generators.{state.processes.rank}."):  # a process that is new keeps its seed
        restore_generators(own, state.device)


def _restore_header(state: TrainingState, header: Any) -> None:
    state.counters.restore(Counters(**header["counters"]))
    state.best.loss, state.best.update, state.best.samples_seen = header["best"]
    state.precision.scaler.load_state_dict(header["scaler"])
    for name, value in header["noise"].items():
        setattr(state.noise, name, value)
    state.micro_batch, state.outcome = header["micro_batch"], header["outcome"]
    state.stopwatch.restart(header["seconds"])
    state.updates[:] = [
        UpdateRecord(**{**row, "noise": None if row["noise"] is None else NoiseEstimate(**row["noise"])})
        for row in header["updates"]
    ]
    state.validations[:] = [ValidationRecord(**row) for row in header["validations"]]
