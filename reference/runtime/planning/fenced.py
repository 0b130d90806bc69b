"""Computations that have been started and may not be over."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

from npu_conformance.reference.runtime.backend import Argument, Outcome
from npu_conformance.reference.runtime.planning.driver_part import DriverPart
from npu_conformance.reference.runtime.planning.engines import FencedEngine, as_declared, execution_info
from npu_conformance.reference.runtime.planning.interpreter import StepFailed
from npu_conformance.reference.runtime.planning.version import timing_of
from npu_conformance.specs.neuralnetworks import hal


class FinishedWork:
    """A computation that was over when the call returned: its event has no fence. See StartedWork."""

    fence: hal.Fence | None = None

    def __init__(self, outcome: Outcome) -> None:
        self._outcome = outcome

    def wait(self) -> Outcome:
        """The outcome is known."""
        return self._outcome


class PendingWork:
    """A computation behind fences. See StartedWork.

    finish: called once, when somebody has first waited for it.
    """

    def __init__(
        self,
        engine: FencedEngine,
        outputs: Sequence[Argument],
        part: DriverPart | None,
        finish: Callable[[], None] = lambda: None,
    ) -> None:
        """part: of a plan of one step, which has times to tell."""
        self.fence: hal.Fence | None = engine.pending[0] if engine.pending else None
        self._engine, self._outputs, self._part, self._finish = engine, outputs, part, finish
        self._outcome: Outcome | None = None
        self._lock = threading.Lock()

    def wait(self) -> Outcome:
        """Wait for the last fence, and ask the drivers how it went."""
        with self._lock:
            if self._outcome is None:
                self._outcome = self._ended()
                self._finish()
            return self._outcome

    def _ended(self) -> Outcome:
        try:
            self._engine.settle()
        except StepFailed as failed:
            return failed.outcome
        outcome = as_declared(self._outputs)
        if self._part is None or not self._engine.terms.measure_timing:
            return outcome
        info, version = execution_info(self._engine.launched[0]), self._part.device.version
        times = timing_of(version, info.timing_launched), timing_of(version, info.timing_fenced)
        return Outcome(outcome.result, outcome.shapes, *times)
