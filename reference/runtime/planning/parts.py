"""What a device has made ready: a whole model, or the part of one that is a step of a plan."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import msgspec

from npu_conformance.reference.runtime.backend import Argument, ExecutionOptions, Outcome, RuntimeDevice
from npu_conformance.specs.neuralnetworks import hal, types
from npu_conformance.specs.neuralnetworks.runtime.result_codes import UNAVAILABLE_DURATION, ResultCode
from npu_conformance.specs.plugin import Clock

NO_TIMING = types.Timing(UNAVAILABLE_DURATION, UNAVAILABLE_DURATION)
_LATEST_NS = 2**63 - 1
"""Deadlines do not lie behind it (FW-QOS-001: timeouts saturate)."""

Answer = tuple[int, Sequence[types.OutputShape], types.Timing | None]
"""A driver's answer to an execution: status, output shapes, and timing in the form of its version."""


class Terms(msgspec.Struct, frozen=True):
    """How to execute a part. deadline_ns: on the runtime's clock, None for none. loop_timeout_ns: 0 for the default."""

    measure_timing: bool = False
    deadline_ns: int | None = None
    loop_timeout_ns: int = 0
    hints: tuple[types.TokenValuePair, ...] = ()
    extensions: tuple[types.ExtensionNameAndPrefix, ...] = ()


def deadline(timeout_ns: int, clock: Clock) -> int | None:
    """The end of a timeout that begins now; None for 0, which is none."""
    return min(clock.now_ns() + timeout_ns, _LATEST_NS) if timeout_ns else None


def terms_of(options: ExecutionOptions, clock: Clock) -> Terms:
    """The terms of an execution that begins now."""
    end = deadline(options.timeout_ns, clock)
    return Terms(options.measure_timing, end, options.loop_timeout_ns, options.hints, options.extensions)


class PartBurst(Protocol):
    """A burst over one part."""

    def close(self) -> None:
        """End it."""
        ...


class Part(Protocol):
    """A graph that a device has prepared. Several executions may use it at once."""

    @property
    def device(self) -> RuntimeDevice:
        """Where it was prepared."""
        ...

    @property
    def prepared_model(self) -> hal.PreparedModel | None:
        """The driver's object; None on the CPU."""
        ...

    def execute(
        self, inputs: Sequence[Argument], outputs: Sequence[Argument], terms: Terms, burst: PartBurst | None = None
    ) -> Outcome:
        """Compute; a failure is an outcome, not an exception."""
        ...


def operations_of(model: types.Model) -> frozenset[int]:
    """The types of its operations, also those of the graphs that an IF or WHILE refers to."""
    return frozenset(operation.type for graph in (model.main, *model.referenced) for operation in graph.operations)


def failure(result: ResultCode) -> Outcome:
    """An outcome without shapes and times: they are dropped with every error."""
    return Outcome(result, (), NO_TIMING, NO_TIMING)
