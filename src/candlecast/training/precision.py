"""One switch for the number format of forward and backward; nothing else asks which it is."""

from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Literal

import torch
from torch.amp.grad_scaler import GradScaler

Name = Literal["fp32", "bf16", "fp16"]
DTYPES: dict[Name, torch.dtype | None] = {"fp32": None, "bf16": torch.bfloat16, "fp16": torch.float16}


@dataclass(frozen=True, slots=True)
class Precision:
    """Autocast for the forward pass and a loss scaler for the backward pass.

    The scaler is enabled for float16 alone: bfloat16 has float32's range, so nothing underflows.
    """

    name: Name
    device_type: str
    scaler: GradScaler

    def autocast(self) -> AbstractContextManager[object]:
        """Return a fresh context for one micro-batch.

        A context shared between passes keeps the cast weights of the first, stale after an update and
        without gradients after an evaluation (pytorch issue 65766).
        """
        dtype = DTYPES[self.name]
        return nullcontext() if dtype is None else torch.autocast(self.device_type, dtype)


def make_precision(name: Literal["auto"] | Name, device: torch.device) -> Precision:
    """Return the precision; `auto` is bfloat16 on a GPU that computes in it, else float32."""
    if name == "auto":
        name = "bf16" if device.type == "cuda" and torch.cuda.is_bf16_supported(False) else "fp32"
    return Precision(name, device.type, GradScaler(device.type, enabled=name == "fp16"))
