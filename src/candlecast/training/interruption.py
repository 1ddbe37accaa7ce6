"""SIGTERM and SIGINT wait for a moment at which they do no harm."""

import signal
import threading
from types import FrameType, TracebackType
from typing import Any, Self

SIGNALS = (signal.SIGTERM, signal.SIGINT)


class Interruption:
    """Notes the first signal instead of acting on it; `deliver` hands it to whoever handled it before.

    A second signal is not held back. Only Python's main thread can handle signals; elsewhere this does
    nothing.
    """

    def __init__(self) -> None:
        self.requested: signal.Signals | None = None
        self._earlier: dict[signal.Signals, Any] = {}

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            self._earlier = {number: signal.signal(number, self._note) for number in SIGNALS}
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._step_aside()

    def deliver(self) -> None:
        """Act on the noted signal now: what handled it before raises, or ends the process."""
        self._step_aside()
        signal.raise_signal(self.requested or signal.SIGTERM)  # or another process was asked to stop

    def _note(self, number: int, frame: FrameType | None) -> None:
        self.requested = signal.Signals(number)
        self._step_aside()

    def _step_aside(self) -> None:
        for number, handler in self._earlier.items():
            signal.signal(number, signal.SIG_DFL if handler is None else handler)
        self._earlier = {}
