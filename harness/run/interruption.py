"""Ctrl-C, SIGTERM and SIGHUP in a run: it ends in order, with the verdicts so far, wherever the signal arrives."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from npu_conformance.specs.documents.results import CaseFinished, Event

_SIGNALS: dict[signal.Signals, Any] = {
    signal.SIGINT: signal.default_int_handler,
    signal.SIGTERM: signal.SIG_DFL,
    signal.SIGHUP: signal.SIG_DFL,
}
"""What ends a run, with what Python does where nobody has asked for something else (as nohup does)."""
_ONE_PRESS_SECONDS = 0.5
"""A Ctrl-C this soon behind another is the same: a tool between the terminal and us passes on what we got as well."""


class Interruption:
    """While entered, the first of the signals raises KeyboardInterrupt, and further ones are passed over.

    The report of an interrupted run takes its time. Where `notice` is set, it is called at the first signal, and tells
    who waits that Ctrl-C once more ends the run without the pages: that raises KeyboardInterrupt again.

    Where the first exception is swallowed, since Python drops those of finalisers and a proxy's may be running, the end
    of the case sends the signal again: this is a sink, the last of a run's, and receives the end of each case with the
    verdict already recorded.

    has_come: True once a signal has ended the run. notice: called within a signal handler: it may take no lock.
    """

    def __init__(self) -> None:
        self.has_come = False
        self.notice: Callable[[], None] | None = None
        self._noticed: float | None = None
        """When somebody was told that Ctrl-C once more ends the run at once."""
        self._is_at_once = False
        self._owed: int | None = None
        self._is_over = False
        self._taken: list[signal.Signals] = []

    def __enter__(self) -> None:
        self._is_over = False
        if threading.current_thread() is threading.main_thread():
            self._taken = [number for number, default in _SIGNALS.items() if signal.getsignal(number) is default]
        for number in self._taken:
            signal.signal(number, self._handle)

    def __exit__(self, *_: object) -> None:
        for number in self._taken:
            signal.signal(number, _SIGNALS[number])
        self._taken = []

    def pass_over(self) -> None:
        """From here on no signal raises anything: the cases have run, and what they recorded is being written."""
        self._is_over = True

    def require_report(self) -> None:
        """Raise KeyboardInterrupt where somebody has asked a second time, whatever swallowed the exception then."""
        if self._is_at_once:
            raise KeyboardInterrupt

    def write(self, event: Event) -> None:
        """Send the signal again of which a finaliser would have swallowed the interrupt."""
        if self._owed is not None and isinstance(event, CaseFinished):
            number, self._owed, self._is_over = self._owed, None, False
            signal.raise_signal(number)

    def _handle(self, number: int, frame: FrameType | None) -> None:
        if self._is_over:
            self._handle_another(number)
            return
        self._is_over = self.has_come = True
        self._give_notice()
        while frame is not None:
            if frame.f_code.co_name == "__del__":
                self._owed = number
                return
            frame = frame.f_back
        raise KeyboardInterrupt

    def _handle_another(self, number: int) -> None:
        """Pass it over, but for a Ctrl-C of somebody who was told what it does."""
        if self._noticed is None:
            self._give_notice()
        elif number == signal.SIGINT and time.monotonic() - self._noticed > _ONE_PRESS_SECONDS:
            self._is_at_once = True
            raise KeyboardInterrupt

    def _give_notice(self) -> None:
        if self.notice is not None and self._noticed is None:
            self._noticed = time.monotonic()
            self.notice()


@contextmanager
def deferred() -> Iterator[None]:
    """What is done inside is done as a whole: a signal that would raise something is sent again at the end.

    Signals whose handlers are not Python's are left alone, and so are all of them in other threads than the main one,
    the only one where they raise anything.
    """
    came: list[int] = []
    handlers = _handlers() if threading.current_thread() is threading.main_thread() else {}
    try:
        for number in handlers:
            signal.signal(number, lambda number, _: came.append(number))
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
        for again in came:
            signal.raise_signal(again)


def _handlers() -> dict[signal.Signals, Any]:
    """The handlers of Python that signals have which end a run."""
    found = {number: signal.getsignal(number) for number in _SIGNALS}
    return {number: handler for number, handler in found.items() if callable(handler)}
