"""A model or a step that a driver has prepared, and the ways to execute it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import msgspec

from npu_conformance.reference.runtime.backend import Argument, Outcome, Pools, RuntimeDevice
from npu_conformance.reference.runtime.planning.bursts import DriverBurst, open_burst
from npu_conformance.reference.runtime.planning.caching import CacheFolder
from npu_conformance.reference.runtime.planning.outstanding import ExecutionReceiver, Outstanding
from npu_conformance.reference.runtime.planning.parts import NO_TIMING, Answer, PartBurst, Terms, failure, operations_of
from npu_conformance.reference.runtime.planning.properties import Properties
from npu_conformance.reference.runtime.planning.requests import outcome_of, request_of
from npu_conformance.reference.runtime.planning.version import time_for, timing_of
from npu_conformance.specs.diagnostics import vlog
from npu_conformance.specs.errors import DeadObject, InterfaceError, ServiceError
from npu_conformance.specs.neuralnetworks import hal, types
from npu_conformance.specs.neuralnetworks.runtime.result_codes import ResultCode
from npu_conformance.specs.versions import Version


class Surroundings(msgspec.Struct, frozen=True):
    """What the runtime lends to its drivers."""

    pools: Pools
    properties: Properties
    caches: CacheFolder
    feature_level: Version


class PreparingDriver(RuntimeDevice, Protocol):
    """The driver that has prepared it. executed: codes of the operations that it has executed successfully."""

    version: Version
    around: Surroundings
    outstanding: Outstanding
    executed: set[int]


class DriverPart:
    """See Part. The prepared model dies with the process of the driver and is not recovered (FW-VER-006)."""

    def __init__(self, device: PreparingDriver, prepared_model: hal.PreparedModel, model: types.Model) -> None:
        self.device: PreparingDriver = device
        self.prepared_model: hal.PreparedModel = prepared_model
        self._operations = operations_of(model)
        self.outputs = [model.main.operands[index] for index in model.main.output_indexes]

    @property
    def has_fences(self) -> bool:
        """Whether it can be executed with fences."""
        return self.device.version >= Version.V1_3

    def execute(
        self, inputs: Sequence[Argument], outputs: Sequence[Argument], terms: Terms, burst: PartBurst | None = None
    ) -> Outcome:
        """See Part."""
        try:
            request = request_of(self.device.version, inputs, outputs)
            status, shapes, timing = self._executed(request, terms, burst)
        except InterfaceError as error:
            return self.failed(error)
        found = timing_of(self.device.version, timing)
        is_strict = self.device.around.feature_level.is_aidl
        outcome = outcome_of(status, shapes, found, outputs, self.outputs, is_strict=is_strict)
        if outcome.result == ResultCode.NO_ERROR:
            self.tell_success()
        return outcome

    def tell_success(self) -> None:
        """Record that the driver has executed the operations."""
        self.device.executed.update(self._operations)

    def execute_fenced(
        self,
        inputs: Sequence[Argument],
        outputs: Sequence[Argument],
        terms: Terms,
        wait_for: tuple[hal.Fence, ...],
        duration_ns: int,
    ) -> hal.FencedExecutionResult:
        """Launch an execution that the fences hold back. Raises InterfaceError. duration_ns: 0 for none."""
        version = self.device.version
        request = request_of(version, inputs, outputs)
        deadline_ns, duration = time_for(version, terms.deadline_ns), time_for(version, duration_ns or None)
        if terms.hints and version >= Version.FL8:
            config = self._config(terms)
            return self.prepared_model.execute_fenced_with_config(request, wait_for, config, deadline_ns, duration)
        loop_timeout = time_for(version, terms.loop_timeout_ns or None)
        return self.prepared_model.execute_fenced(
            request, wait_for, terms.measure_timing, deadline_ns, loop_timeout, duration
        )

    def open_burst(self) -> PartBurst | None:
        """A burst; None where the driver has none or cannot open one."""
        return open_burst(self.prepared_model, self.device.version)

    def failed(self, error: InterfaceError) -> Outcome:
        """The outcome of a call that failed: of a death by profile, DEAD_OBJECT or, in R, OP_FAILED."""
        reason = str(error)
        vlog.log("execution", lambda: f"{self.device.name}: {reason}")
        is_strict = self.device.around.feature_level.is_aidl
        if isinstance(error, ServiceError):
            return outcome_of(error.status, (), NO_TIMING, (), (), is_strict=is_strict)
        is_dead = isinstance(error, DeadObject) and is_strict
        return failure(ResultCode.DEAD_OBJECT if is_dead else ResultCode.OP_FAILED)

    def _executed(self, request: types.Request, terms: Terms, burst: PartBurst | None) -> Answer:
        version = self.device.version
        if isinstance(burst, DriverBurst) and burst.takes(request, terms):
            return burst.execute(request, terms)
        is_synchronous = version.is_aidl or self.device.around.properties.synchronous_hal
        if version < Version.V1_2 or not is_synchronous:
            return self._asynchronously(request, terms)
        return answer_of(self._synchronously(request, terms))

    def _synchronously(self, request: types.Request, terms: Terms) -> types.ExecutionResult:
        version = self.device.version
        deadline_ns = time_for(version, terms.deadline_ns)
        if terms.hints and version >= Version.FL8:
            return self.prepared_model.execute_synchronously_with_config(request, self._config(terms), deadline_ns)
        loop_timeout = time_for(version, terms.loop_timeout_ns or None)
        return self.prepared_model.execute_synchronously(request, terms.measure_timing, deadline_ns, loop_timeout)

    def _asynchronously(self, request: types.Request, terms: Terms) -> Answer:
        """Launch and wait for the callback; a launch that is refused need not call it."""
        version, receiver = self.device.version, ExecutionReceiver()
        measure = terms.measure_timing and version >= Version.V1_2
        times = time_for(version, terms.deadline_ns), time_for(version, terms.loop_timeout_ns or None)
        with self.device.outstanding.waiting(receiver.died):
            self.prepared_model.execute(request, measure, *times, receiver)
            return receiver.answer()

    def _config(self, terms: Terms) -> types.ExecutionConfig:
        loop_timeout = time_for(self.device.version, terms.loop_timeout_ns or None)
        return types.ExecutionConfig(terms.measure_timing, loop_timeout, terms.hints, terms.extensions)


def answer_of(result: types.ExecutionResult) -> Answer:
    """A synchronous result in the form of an asynchronous one."""
    return result.status, result.output_shapes, result.timing
