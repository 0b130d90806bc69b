"""A client that measures how much slower inferences are while another thread prepares models all the time.

Blocks of inferences without and with that load take turns, and each pair of neighbours is compared: what slows both
down, such as other work of the machine, says nothing about the driver.
"""

from __future__ import annotations

import itertools
import statistics
import threading
import time
from typing import TYPE_CHECKING

from npu_conformance.harness.run.repeated_inference import infer
from npu_conformance.mlts.lib.rounds import Measured, Rounds, connected, load, load_vector

if TYPE_CHECKING:
    from npu_conformance.harness.subject.handle import SubjectHandle
    from npu_conformance.mlts.lib.reports import Plan

BLOCK = 10
"""Inferences of a block; a round has one block without load and one with it."""
SLOW = 1.5
"""How many times as long an inference may take under load (ML-CRS-009)."""
_PAUSE_SECONDS = 0.02
"""Between two preparations, as in AOSP's test."""


def work(subject: SubjectHandle, plan: Plan, thread: int, measured: Measured) -> Rounds:
    """Infer the first model of the plan while all models are prepared. The second ticket is that of the load.

    measured: `ratio` is the median over all rounds of how many times as long an inference takes under load, and `slow`
    the share of rounds in which it is more than SLOW.
    """
    inferences, ratios = infer(subject, load_vector(plan.models[0]), 1 << 62), list[float]()
    next(inferences)
    compiling = _Compiling(plan)
    try:
        _median_seconds(inferences)  # warm-up
        yield 0
        for number in itertools.count(1):
            quiet = _median_seconds(inferences)
            compiling.go_on()
            loaded = _median_seconds(inferences)
            compiling.rest()
            ratios.append(loaded / quiet)
            measured["ratio"] = statistics.median(ratios)
            measured["slow"] = sum(ratio > SLOW for ratio in ratios) / len(ratios)
            measured["preparations"] = compiling.preparations
            yield number
    finally:
        inferences.close()
        compiling.close()


def _median_seconds(inferences: Rounds) -> float:
    """The median of a block's latencies."""
    found = []
    for _ in range(BLOCK):
        began = time.perf_counter()
        next(inferences)
        found.append(time.perf_counter() - began)
    return statistics.median(found)


class _Compiling:
    """The thread that prepares models between `go_on` and `rest`, over a connection of its own."""

    def __init__(self, plan: Plan) -> None:
        self.preparations = 0
        self._plan = plan
        self._may_go, self._rests = threading.Event(), threading.Event()
        self._is_over = False
        self._error: Exception | None = None
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def go_on(self) -> None:
        """Let it prepare. Raises what its preparations raised."""
        self._rests.clear()
        self._require_alive()  # the dead set that only once
        self._may_go.set()

    def rest(self) -> None:
        """Let it rest, and wait until it does. Raises what its preparations raised."""
        self._may_go.clear()
        self._rests.wait()
        self._require_alive()

    def close(self) -> None:
        """End it."""
        self._is_over = True
        self._may_go.set()
        self._thread.join()

    def _require_alive(self) -> None:
        if self._error is not None:
            raise self._error

    def _run(self) -> None:
        plan = self._plan
        try:
            subject = connected(plan, plan.tickets[1])
            try:
                self._prepare(subject)
            finally:
                subject.close()
        except Exception as error:
            self._error = error
        self._rests.set()

    def _prepare(self, subject: SubjectHandle) -> None:
        for vector in itertools.cycle([load_vector(model) for model in self._plan.models]):
            if not self._may_go.is_set():
                self._rests.set()
                self._may_go.wait()
            if self._is_over:
                return
            load(subject, vector)
            self.preparations += 1
            time.sleep(_PAUSE_SECONDS)
