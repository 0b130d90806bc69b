"""What a user sees while a run goes on: one moving line on a terminal, plain lines elsewhere."""

from __future__ import annotations

import shutil
import sys
import time
from typing import TextIO

from npu_conformance.harness.outcome_table import is_red
from npu_conformance.harness.report.lines import explain, headline
from npu_conformance.specs.results import CaseFinished, CaseStarted, Event

_LINES_EVERY_SECONDS = 10.0
_REPAINT_SECONDS = 0.1


class Progress:
    """A sink that tells of red cases at once and of the rest by numbers. `live` repaints one line."""

    def __init__(self, total: int, stream: TextIO, *, live: bool, quiet: bool = False) -> None:
        self._total, self._stream, self._live, self._quiet = total, stream, live, quiet
        self._done = self._red = 0
        self._started = self._painted = time.monotonic()
        self._current = ""

    def write(self, event: Event) -> None:
        """Take one event."""
        if isinstance(event, CaseStarted):
            self._current = event.case
        elif isinstance(event, CaseFinished):
            self._done += 1
            result = event.result
            if is_red(result.outcome, result.dispositions):
                self._red += 1
                self._say(headline(result) if self._quiet else explain(result))
            self._paint()

    def close(self) -> None:
        """Clear the moving line."""
        if self._live and not self._quiet:
            print("\r\033[K", end="", file=self._stream, flush=True)

    def _say(self, text: str) -> None:
        self.close()
        print(text, file=self._stream, flush=True)

    def _paint(self) -> None:
        now = time.monotonic()
        if self._quiet or now - self._painted < (_REPAINT_SECONDS if self._live else _LINES_EVERY_SECONDS):
            return
        self._painted = now
        line = f"{self._done}/{self._total}, {self._red} red, {now - self._started:.0f} s"
        if not self._live:
            print(line, file=self._stream, flush=True)
            return
        width = shutil.get_terminal_size().columns
        print("\r" + f"{line}  {self._current}"[: width - 1] + "\033[K", end="", file=self._stream, flush=True)


def progress_for(total: int, *, quiet: bool = False) -> Progress:
    """The display for standard error: live where it is a terminal."""
    return Progress(total, sys.stderr, live=sys.stderr.isatty(), quiet=quiet)
