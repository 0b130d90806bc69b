"""The client program of the stress tests: `python -m npu_conformance.mlts.lib.worker DESCRIPTOR`, its plan on stdin.

It connects to the implementation by itself, gets ready, waits until all clients are, and does its rounds as the plan
says. It reports on the descriptor, and dies when its stdin ends: then whoever started it is gone.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable

import msgspec

from npu_conformance.harness.judge.classification import OutcomeDetails, classify_exception
from npu_conformance.mlts.lib.reports import STOP, Line, Plan, Progress, Report, Verdict
from npu_conformance.mlts.lib.rounds import Measured
from npu_conformance.specs import documents
from npu_conformance.specs.diagnostics.counted import counted
from npu_conformance.specs.outcomes import Outcome

VERDICTS = {Outcome.CRASH: Verdict.CRASH, Outcome.HANG: Verdict.HANG, Outcome.FAIL: Verdict.FAILURE}
Say = Callable[[Line], None]


class Signals:
    """What the client is told while it runs: to begin, and to stop."""

    def __init__(self) -> None:
        self.go = threading.Event()
        self.stop = threading.Event()

    def listen(self) -> None:
        """Follow stdin to its end, and die with it. Not through sys.stdin: its lock would be held when all ends."""
        while told := os.read(0, 1):
            self.go.set()
            if told == STOP:
                self.stop.set()
        os.killpg(os.getpgrp(), signal.SIGKILL)


class Crew:
    """The threads of one client. They begin together; where one fails all others end after their round."""

    def __init__(self, plan: Plan, say: Say, signals: Signals) -> None:
        self._plan = plan
        self._say = say
        self._signals = signals
        self._lock = threading.Lock()
        self._ready = self._done = 0
        self._end_time = float("inf")
        self._last: int | None = None
        self._details: OutcomeDetails | None = None
        self._measured = Measured()

    def run(self) -> Report:
        """Carry out the plan, with a sign of life when ready and after each round; how it ended."""
        threads = [threading.Thread(target=self._work, args=(number,)) for number in range(self._plan.threads)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if self._details is not None:
            return msgspec.structs.replace(_report(self._details, self._done), moments=self._measured.take_moments())
        moments = self._measured.take_moments()
        return Report(Verdict.SUCCESS, self._done, measured=self._measured, moments=moments)

    def _work(self, number: int) -> None:
        try:
            from npu_conformance.mlts.lib import works

            rounds = works.run(self._plan, number, self._measured)
            try:
                next(rounds)
                self._get_ready()
                own = 0
                while not self._is_over(own):
                    before, own = own, next(rounds)
                    self._count(own - before)
            finally:
                rounds.close()
        except Exception as error:
            with self._lock:
                self._details = self._details or classify_exception(error)
            self._signals.go.set()

    def _get_ready(self) -> None:
        with self._lock:
            self._ready += 1
            if self._ready == self._plan.threads:
                self._say(Progress(self._done))
        self._signals.go.wait()
        with self._lock:
            if self._end_time == float("inf") and self._plan.seconds:
                self._end_time = time.monotonic() + self._plan.seconds
            if self._plan.die_at and self._ready:
                self._ready = 0
                timer = threading.Timer(self._plan.die_at, _die)
                timer.daemon = True
                timer.start()

    def _is_over(self, own: int) -> bool:
        if self._details is not None:
            return True
        if self._plan.until_stopped:
            if self._signals.stop.is_set() and self._last is None:
                self._last = own + self._plan.rounds
            return self._last is not None and own >= self._last
        if self._plan.seconds:  # who has to wait for a turn has one all the same
            return own > 0 and time.monotonic() >= self._end_time
        return own >= self._plan.rounds

    def _count(self, more: int) -> None:
        """Tell of one more round, or of none: that the client waits is a sign of life."""
        with self._lock:
            self._done += more
            self._say(Progress(self._done, self._measured.take_moments()))
            if more and self._done == self._plan.die_after:
                _die()
        if self._plan.pause:
            self._signals.stop.wait(self._plan.pause)


def _die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def _report(details: OutcomeDetails, done: int) -> Report:
    if details.outcome is Outcome.NOT_SUPPORTED:
        return Report(Verdict.SUCCESS, done, lacking=details.message)
    verdict = VERDICTS.get(details.outcome, Verdict.FAILURE)
    if details.outcome is Outcome.SUITE_ERROR:
        return Report(verdict, done, defect=f"{details.message}\n{details.traceback}")
    return Report(verdict, done, f"after {counted(done, 'round')}: {details.message}")


def main() -> None:
    """Carry out the plan and report."""
    plan = documents.decode(sys.stdin.buffer.readline(), Plan, "plan")
    signals = Signals()
    threading.Thread(target=signals.listen, daemon=True).start()
    channel = int(sys.argv[1])

    def say(line: Line) -> None:
        os.write(channel, documents.encode_line(line))

    say(Crew(plan, say, signals).run())


if __name__ == "__main__":
    main()
