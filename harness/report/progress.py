"""What a user sees while a run goes on: one moving line on a terminal, now and then a plain line elsewhere."""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterable

from npu_conformance.harness.judge.outcome_table import is_red
from npu_conformance.harness.report.console import Console
from npu_conformance.harness.report.lines import headline
from npu_conformance.harness.report.symptoms import Cause, cause
from npu_conformance.specs.documents.results import CaseFinished, CaseResult, CaseStarted, Event
from npu_conformance.specs.outcomes import Outcome

_REPAINT_SECONDS = 0.1
_TICK_SECONDS = 1.0
_FIRST_LINE_SECONDS, _LINE_SECONDS = 5.0, 60.0
"""Off a terminal: when the first line comes, and the longest time between two; from one to the other it doubles."""
_ESTIMATE_SECONDS, _ESTIMATE_CASES = 2.0, 10
"""How long a run lasts, and how much of it is done, before its rate says anything of the rest: the first case waits for
the driver's start, and what follows from it alone is hours."""
_LONG_SECONDS = 10.0
"""How long a case runs before it is named."""
_TOLD = 40
"""How many causes get a line of their own; later ones are only counted."""
_BAR = 20
_HANGS = 3
_SHORTER = "  a case that hangs lasts its whole deadline: --longest-wait 5 shortens it"
_INTERRUPTED = (
    "interrupted: the report is being written; Ctrl-C once more ends at once, without it (--resume continues)"
)
_FIRST = f"{_HANGS} cases hang one after the other, each for its whole deadline: -x 1 ends the run at the first"


class Progress:
    """A sink that prints the first red case of each cause at once, and only counts the rest.

    On a terminal it repaints one line, each second also where nothing happens. A case that lasts is named there, and
    off a terminal as well. The end of the run explains the most frequent symptoms. quiet: no moving line. names_red:
    red cases get their lines, which nothing else prints soon.
    is_short: the user has said how long a wait may be. clock: seconds, as of time.monotonic.
    """

    def __init__(
        self,
        total: int,
        console: Console,
        *,
        quiet: bool = False,
        names_red: bool = True,
        is_short: bool = False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._names_red = names_red
        self._total, self._console, self._live, self._quiet = total, console, console.is_terminal, quiet
        self._done = self._red = self._not_run = 0
        self._done_before = self._red_before = 0
        """In the run that is resumed."""
        self._causes: set[Cause] = set()
        self._hangs = 0
        """How many of the newest cases hang, one after the other."""
        self._hints = {_FIRST} if is_short else {_FIRST, _SHORTER}
        """What has not been said yet of hangs."""
        self.told: set[str] = set()
        """The cases whose lines were printed."""
        self._clock = clock
        self._started = self._painted = clock()
        self._pause = _REPAINT_SECONDS if self._live else _FIRST_LINE_SECONDS
        self._running: dict[str, float] = {}
        """When the cases began that run, the newest last."""
        self._lock, self._closed = threading.Lock(), threading.Event()
        self._interrupted = False
        if not quiet:
            threading.Thread(target=self._tick, name="progress", daemon=True).start()

    def resume(self, earlier: Iterable[CaseResult]) -> None:
        """Count what the run that is resumed has done; the rate is that of this one alone."""
        for result in earlier:
            self._done_before += 1
            self._red_before += is_red(result.outcome, result.dispositions)

    def write(self, event: Event) -> None:
        """Show one event."""
        with self._lock:
            if isinstance(event, CaseStarted):
                self._running[event.case] = self._clock()
            elif isinstance(event, CaseFinished):
                self._done += 1
                self._running.pop(event.result.case, None)
                if is_red(event.result.outcome, event.result.dispositions):
                    self._tell(event.result)
                self._count_hangs(event.result)
                self._paint()

    def close(self) -> None:
        """Clear the moving line."""
        self._closed.set()
        with self._lock:
            self._clear()

    def interrupt(self) -> None:
        """Say at once that somebody has ended the run, and show nothing that moves from here on.

        It is called within a signal handler, which may have interrupted this very object or its stream: it takes no
        lock, and writes no buffer.
        """
        self._interrupted = True
        clear = "\r\033[K" if self._live and not self._quiet else ""
        with contextlib.suppress(OSError):  # closed, or a full disk
            os.write(2, f"{clear}{_INTERRUPTED}\n".encode())

    @property
    def red(self) -> int:
        """Red cases so far, in this run; those that were not run are none."""
        return self._red

    @property
    def closed(self) -> bool:
        """True where nothing is shown any more."""
        return self._closed.is_set()

    def line(self) -> str:
        """Bar, share, count, red cases, rate and the time that is left, as far as known; and which case lasts."""
        seconds = self._clock() - self._started
        done = self._done_before + self._done
        share = done / self._total if self._total else 1.0
        filled = int(share * _BAR)
        bar = f"[{'=' * filled}{' ' * (_BAR - filled)}]"
        parts = [f"{bar} {share:4.0%} {done}/{self._total}", f"{self._red_before + self._red} red", _duration(seconds)]
        if self._done >= _ESTIMATE_CASES and seconds >= _ESTIMATE_SECONDS:
            rate = self._done / seconds
            parts += [f"{rate:.0f}/s", f"about {_duration((self._total - done) / rate)} left"]
        return ", ".join([*parts, *self._long()])

    def _long(self) -> list[str]:
        """The case that has been running longest, where that is long."""
        name, began = next(iter(self._running.items()), ("", 0.0))
        seconds = self._clock() - began
        return [f"{name} for {_duration(seconds)}"] if name and seconds > _LONG_SECONDS else []

    def _tick(self) -> None:
        while not self._closed.wait(_TICK_SECONDS):
            with self._lock:
                if self._live or self._long():
                    self._paint()

    def _tell(self, result: CaseResult) -> None:
        """Give the first red case of a cause its line; not-run has one reason for all."""
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
            self.told.add(result.case)
            self._say(headline(result, self._console.paint))
        elif len(self._causes) == _TOLD + 1:
            self._say("... more red cases are only counted from here; the report explains all")

    def _count_hangs(self, result: CaseResult) -> None:
        """Say once what shortens hangs, and once what ends them, before a device that answers nothing costs hours."""
        if result.outcome is not Outcome.HANG:
            self._hangs = 0
            return
        self._hangs += 1
        self._hint(_SHORTER)
        if self._hangs == _HANGS:
            self._hint(_FIRST)

    def _hint(self, text: str) -> None:
        if text in self._hints:
            self._hints.remove(text)
            self._say(text)

    def _say(self, text: str) -> None:
        if self._names_red:
            self._clear()
            self._console.say(text)

    def _clear(self) -> None:
        if self._live and not self._quiet:
            self._console.say("\r\033[K", end="")

    def _paint(self) -> None:
        now = self._clock()
        if self._quiet or self.closed or self._interrupted or now - self._painted < self._pause:
            return
        self._painted = now
        if self._live:
            width = shutil.get_terminal_size().columns
            newest = "" if self._long() else next(reversed(self._running), "")
            self._console.say("\r" + f"{self.line()}  {newest}".rstrip()[: width - 1] + "\033[K", end="")
        else:
            self._pause = min(2 * self._pause, _LINE_SECONDS)
            self._console.say(self.line())


def _duration(seconds: float) -> str:
    """Seconds for people: 42 s, 3:05, 1:02:03."""
    if seconds < 60:
        return f"{seconds:.0f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def progress_for(total: int, *, quiet: bool = False, names_red: bool = True, is_short: bool = False) -> Progress:
    """The display for standard error: live where it is a terminal."""
    console = Console(sys.stderr, may_be_lost=True)
    return Progress(total, console, quiet=quiet, names_red=names_red, is_short=is_short)
