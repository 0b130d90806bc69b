"""What a user sees while a run goes on: one moving line on a terminal, plain lines elsewhere."""

from __future__ import annotations

import shutil
import sys
import time

from npu_conformance.harness.judge.outcome_table import is_red
from npu_conformance.harness.report.console import Console
from npu_conformance.harness.report.lines import headline
from npu_conformance.harness.report.symptoms import Cause, cause
from npu_conformance.specs.documents.results import CaseFinished, CaseResult, CaseStarted, Event
from npu_conformance.specs.outcomes import Outcome

_LINES_EVERY_SECONDS = 10.0
_REPAINT_SECONDS = 0.1
_TOLD = 40
"""How many symptoms get a line of their own; later ones are only counted."""


class Progress:
    """A sink that prints the first red case of each symptom at once, and only counts the rest.

    On a terminal it repaints one line. The end of the run explains the most frequent symptoms.
    """

    def __init__(self, total: int, console: Console, *, quiet: bool = False) -> None:
        self._total, self._console, self._live, self._quiet = total, console, console.is_terminal, quiet
        self._done = self._red = self._not_run = 0
        self._causes: set[Cause] = set()
        self._started = self._painted = time.monotonic()
        self._current = ""

    def write(self, event: Event) -> None:
        """Show one event."""
        if isinstance(event, CaseStarted):
            self._current = event.case
        elif isinstance(event, CaseFinished):
            self._done += 1
            if is_red(event.result.outcome, event.result.dispositions):
                self._tell(event.result)
            self._paint()

    def close(self) -> None:
        """Clear the moving line."""
        if self._live and not self._quiet:
            self._console.say("\r\033[K", end="")

    def _tell(self, result: CaseResult) -> None:
        """Give the first red case of a symptom its line; not-run has one reason for all."""
        if result.outcome is Outcome.NOT_RUN:
            self._not_run += 1
            if self._not_run == 1:
                self._say(f"{headline(result, self._console.paint)} (and what follows)")
            return
        self._red += 1
        if cause(result) in self._causes:
            return
        self._causes.add(cause(result))
        if len(self._causes) <= _TOLD:
            self._say(headline(result, self._console.paint))
        elif len(self._causes) == _TOLD + 1:
            self._say("... more red cases are only counted from here; the report explains all")

    def _say(self, text: str) -> None:
        self.close()
        self._console.say(text)

    def _paint(self) -> None:
        now = time.monotonic()
        if self._quiet or now - self._painted < (_REPAINT_SECONDS if self._live else _LINES_EVERY_SECONDS):
            return
        self._painted = now
        line = f"{self._done}/{self._total}, {self._red} red, {now - self._started:.0f} s"
        if self._live:
            width = shutil.get_terminal_size().columns
            self._console.say("\r" + f"{line}  {self._current}"[: width - 1] + "\033[K", end="")
        else:
            self._console.say(line)


def progress_for(total: int, *, quiet: bool = False) -> Progress:
    """The display for standard error: live where it is a terminal."""
    return Progress(total, Console(sys.stderr), quiet=quiet)
