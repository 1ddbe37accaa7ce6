"""What the training held in memory, as a table of what it is for, and in words."""

from dataclasses import asdict
from typing import Final

from candlecast.report.tables import Cell, Row, Table
from candlecast.training.memory_plan import format_size
from candlecast.training.memory_record import MemoryRecord

_PARTS: Final = {
    "parameters": ("Parameters", "the weights, and buffers"),
    "gradients": ("Gradients", "one copy, held from the first micro-batch of an update to its step"),
    "optimizer": ("Optimiser", "its running means"),
    "activations": ("Activations", "what one micro-batch's backward pass needs"),
    "inputs": ("Inputs", "the windows of one effective batch"),
    "copies": ("Copies of the weights", "the best so far, and the moving average where there is one"),
}


def memory_table(record: MemoryRecord) -> Table:
    """Return the predicted peak by what it is for."""
    sizes, total = asdict(record.predicted), record.predicted.total
    rows = []
    for part, (name, meaning) in _PARTS.items():
        share = f"{sizes[part] / total:.0%}"
        rows.append(Row(name, (Cell(format_size(sizes[part])), Cell(share), Cell(meaning, "words"))))
    rows.append(Row("In all", (Cell(format_size(total), "strong"), Cell("100%"), Cell("", "words"))))
    heads = (("Predicted", "bytes at the peak of an update"), ("Share", ""), ("What for", ""))
    return Table(heads, tuple(rows))


def memory_sentence(record: MemoryRecord) -> str:
    """Return the predicted peak beside the measured one, or that none was measured."""
    twice = ", activations computed twice" if record.checkpoint_activations else ""
    predicted = _size(record.predicted.total)
    setting = (
        f"Predicted for {record.precision}, micro-batches of {record.micro_batch} and "
        f"{record.effective_batch} windows an update{twice}: a peak of {predicted}, "
        "without what kernels and allocator take beside it."
    )
    if record.measured is None:
        return f"{setting} Nothing was measured: only a GPU counts what tensors hold."
    ratio = record.measured / record.predicted.total
    return f"{setting} The GPU counted {_size(record.measured)} at the most, {ratio:.2f} times that."


def _size(size: float) -> str:
    return format_size(size).replace(" ", "\u00a0")
