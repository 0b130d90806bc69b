"""Text for people on a stream: modest colour on a terminal, plain lines elsewhere, and no harm from a closed pipe."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TextIO

from npu_conformance.harness.report.writing import UnwritableError

Paint = Callable[[str, str], str]
"""Colours a text by the name of an outcome."""

_COLOURS = {
    "pass": "32", "fail": "31", "crash": "31", "hang": "31", "not-run": "31", "suite-error": "31",
    "not-supported": "33", "not-applicable": "2", "none": "2",
}  # fmt: skip


def plain(text: str, outcome: str) -> str:
    """Leave the text as it is."""
    return text


def coloured(text: str, outcome: str) -> str:
    """Paint for a terminal: green, red, yellow; grey for what does not apply."""
    return f"\033[{_COLOURS[outcome]}m{text}\033[0m" if outcome in _COLOURS else text


class Console:
    """A stream that outlives its reader: behind `run | head` the run goes on, and its exit code stays its verdict.

    Where it cannot be written otherwise (a full disk), `say` raises UnwritableError, once. may_be_lost: nor does this
    end the run, and `lost` keeps the error.
    """

    def __init__(self, stream: TextIO, *, may_be_lost: bool = False) -> None:
        self._stream = stream
        self._may_be_lost = may_be_lost
        self.lost: UnwritableError | None = None
        self.is_terminal = stream.isatty()
        wanted = not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
        self.paint: Paint = coloured if self.is_terminal and wanted else plain

    def say(self, text: str, end: str = "\n") -> None:
        """Print, at once."""
        try:
            self._stream.write(text + end)  # in one piece: processes that share a terminal must not tear lines
            self._stream.flush()
        except OSError as error:
            abandon(self._stream)
            if isinstance(error, BrokenPipeError):
                return
            self.lost = UnwritableError(f"the output: cannot be written: {error.strerror}")
            if not self._may_be_lost:
                raise self.lost from None


def one_place(first: TextIO, second: TextIO) -> bool:
    """True where two streams end in the same terminal, file or pipe: whoever reads one reads the other, too."""
    try:
        return os.path.sameopenfile(first.fileno(), second.fileno())
    except (OSError, ValueError):  # one has no descriptor, or it is closed
        return False


def abandon(stream: TextIO) -> None:
    """Send the rest of a stream nowhere, what is still buffered included: nobody can read it."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, stream.fileno())
    os.close(null)
