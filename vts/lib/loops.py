"""Loops: those that never end, which a device has to abort after their timeout, and the time that others have."""

from __future__ import annotations

import struct

from npu_conformance.corpus.vectors import Vector
from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.verdicts import NotSupported
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.run.executing.execution import Execution
from npu_conformance.specs.neuralnetworks.enums import (
    DEFAULT_LOOP_TIMEOUT_DURATION_NS,
    MAXIMUM_LOOP_TIMEOUT_DURATION_NS,
    MISSED,
    ErrorStatus,
)
from npu_conformance.specs.neuralnetworks.types import (
    NO_LOOP_TIMEOUT,
    DataLocation,
    Request,
    RequestArgument,
    RequestMemoryPool,
)

_SIZE = 4
"""Bytes of each argument of LOOP."""
_DEFAULT_SECONDS = DEFAULT_LOOP_TIMEOUT_DURATION_NS / 1e9


def longest_timeout(vector: Vector) -> int:
    """As long as it may be, where there is a loop: no result depends on how busy the machine is."""
    return MAXIMUM_LOOP_TIMEOUT_DURATION_NS if vector.has_loops else NO_LOOP_TIMEOUT


class Loop:
    """A request for LOOP, which counts in steps up to one step; a step of 0 never comes to an end."""

    def __init__(self, context: CaseContext, rounds: int, step: float = 1.0) -> None:
        """rounds: until it ends."""
        self._pool, self._step = context.pool(64), step
        self._pool.write(0, struct.pack("<f", step * (1 - rounds) if step else -1.0))
        self._pool.write(16, struct.pack("<f", step))
        first, second, output = (RequestArgument(location=DataLocation(0, at, _SIZE)) for at in (0, 16, 32))
        self.request = Request((first, second), (output,), (RequestMemoryPool(pool=self._pool.memory),))

    def check(self, what: str = "output of a loop") -> None:
        """Fail unless the loop has come to its end."""
        checks.equal(struct.unpack("<f", self._pool.read(32, _SIZE)), (self._step,), what)


def expect_sooner_than_default(context: CaseContext, elapsed: float) -> None:
    """See that a loop was aborted before the default timeout can have done it. elapsed: seconds of the execution."""
    latest = _DEFAULT_SECONDS * max(context.manifest.time_scale, 1.0)
    checks.that(elapsed < latest, f"aborted after {elapsed:.3f} s: expected less than the default {latest:g} s")


def expect_aborted(execution: Execution) -> None:
    """See that a loop was ended by its timeout. A device may also say that it cannot execute this at all."""
    if execution.status == ErrorStatus.GENERAL_FAILURE:
        raise NotSupported("the device does not execute an endless loop")
    checks.status(execution.status, MISSED, "execution of an endless loop")
