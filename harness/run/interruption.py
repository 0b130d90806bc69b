"""Ctrl-C in a run: it ends in order, with the verdicts so far, wherever in the program the signal arrives."""

from __future__ import annotations

import signal
import threading
from types import FrameType

from npu_conformance.specs.documents.results import CaseFinished, Event


class Interruption:
    """While entered, SIGINT raises KeyboardInterrupt; where that is swallowed, the end of the case raises it again.

    Python drops exceptions of finalisers, and a proxy's may be running. It is a sink, the last of a run's: so it
    receives the end of each case, with the verdict already recorded.
    """

    def __init__(self) -> None:
        self._owed = False
        self._active = False

    def __enter__(self) -> None:
        is_default = signal.getsignal(signal.SIGINT) is signal.default_int_handler
        self._active = is_default and threading.current_thread() is threading.main_thread()
        if self._active:
            signal.signal(signal.SIGINT, self._handle)

    def __exit__(self, *_: object) -> None:
        if self._active:
            signal.signal(signal.SIGINT, signal.default_int_handler)

    def write(self, event: Event) -> None:
        """Raise the interrupt that a finaliser would have swallowed."""
        if self._owed and isinstance(event, CaseFinished):
            self._owed = False
            raise KeyboardInterrupt

    def _handle(self, number: int, frame: FrameType | None) -> None:
        while frame is not None:
            if frame.f_code.co_name == "__del__":
                self._owed = True
                return
            frame = frame.f_back
        raise KeyboardInterrupt
