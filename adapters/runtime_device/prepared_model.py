"""A compilation of the C API as a prepared model of the HAL."""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable

from npu_conformance.adapters.runtime_device.execution import ApiExecution, Compiled, Terms, as_service_error, no_timing
from npu_conformance.adapters.runtime_device.fenced import launch_fenced
from npu_conformance.adapters.runtime_device.visibility import require_visible_request, require_without_hints
from npu_conformance.harness.nnapi.errors import CallError, require
from npu_conformance.specs.errors import NotVisible, ServiceError
from npu_conformance.specs.neuralnetworks import hal, types
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus
from npu_conformance.specs.neuralnetworks.runtime import Runtime
from npu_conformance.specs.versions import Version


class RuntimePreparedModel(hal.PreparedModel):
    """Every execution is an ANeuralNetworksExecution of its own."""

    def __init__(self, compiled: Compiled, free: Callable[[], None]) -> None:
        """free: destroys the compilation; called when nobody holds the prepared model any more."""
        self._compiled = compiled
        weakref.finalize(self, compiled.at_end, free)

    def execute_synchronously(
        self, request: types.Request, measure_timing: bool, deadline_ns: int, loop_timeout_duration_ns: int
    ) -> types.ExecutionResult:
        """ANeuralNetworksExecution_compute; below feature level 3 startCompute and wait."""
        return self._executed(
            request, Terms(measure_timing, deadline_ns, loop_timeout_duration_ns), ApiExecution.compute
        )

    def execute(
        self,
        request: types.Request,
        measure_timing: bool,
        deadline_ns: int,
        loop_timeout_duration_ns: int,
        callback: hal.ExecutionCallback | None,
    ) -> None:
        """ANeuralNetworksExecution_startCompute; its event is waited for in the call."""
        if callback is None:
            raise NotVisible("the C API has no callbacks that could be null")
        terms = Terms(measure_timing, deadline_ns, loop_timeout_duration_ns)
        version = self._compiled.version
        try:
            result = self._executed(request, terms, ApiExecution.start_and_wait)
        except ServiceError as error:
            callback.notify(error.status, (), no_timing(version) if version >= Version.V1_2 else None)
            if error.status == ErrorStatus.INVALID_ARGUMENT:
                raise
            return  # it was launched, and failed
        callback.notify(result.status, result.output_shapes, result.timing if version >= Version.V1_2 else None)

    def execute_fenced(
        self,
        request: types.Request,
        wait_for: tuple[hal.Fence | None, ...],
        measure_timing: bool,
        deadline_ns: int,
        loop_timeout_duration_ns: int,
        duration_ns: int,
    ) -> hal.FencedExecutionResult:
        """ANeuralNetworksExecution_startComputeWithDependencies."""
        require_visible_request(self._compiled.model, request)
        terms = Terms(measure_timing, deadline_ns, loop_timeout_duration_ns)
        try:
            return launch_fenced(self._compiled, request, wait_for, terms, duration_ns, keeps=self)
        except CallError as error:
            raise as_service_error(error) from None

    def execute_synchronously_with_config(
        self, request: types.Request, config: types.ExecutionConfig, deadline_ns: int
    ) -> types.ExecutionResult:
        """See execute_synchronously."""
        require_without_hints(config.execution_hints)
        return self.execute_synchronously(request, config.measure_timing, deadline_ns, config.loop_timeout_duration_ns)

    def execute_fenced_with_config(
        self,
        request: types.Request,
        wait_for: tuple[hal.Fence, ...],
        config: types.ExecutionConfig,
        deadline_ns: int,
        duration_ns: int,
    ) -> hal.FencedExecutionResult:
        """See execute_fenced."""
        require_without_hints(config.execution_hints)
        terms = config.measure_timing, deadline_ns, config.loop_timeout_duration_ns
        return self.execute_fenced(request, wait_for, *terms, duration_ns)

    def create_reusable_execution(self, request: types.Request, config: types.ExecutionConfig) -> hal.Execution:
        """A request to be executed many times, each time by a new ANeuralNetworksExecution."""
        require_without_hints(config.execution_hints)
        return BoundExecution(self, request, config)

    def configure_execution_burst_on_queues(
        self, callback: hal.BurstCallback | None, requests: types.QueueDescriptor, results: types.QueueDescriptor
    ) -> hal.BurstContext:
        """HIDL's packets are between a runtime and a driver; AIDL's burst has what an app has."""
        raise NotVisible("the packets of a HIDL burst are between a runtime and its drivers")

    def configure_execution_burst(self) -> hal.Burst:
        """ANeuralNetworksBurst_create."""
        made = self._compiled.runtime.burst_create(self._compiled.handle, True)
        try:
            require("burst_create", made.result)
        except CallError as error:
            raise as_service_error(error) from None
        return RuntimeBurst(self._compiled, made.handle, self._executed)

    def _executed(
        self, request: types.Request, terms: Terms, run: Callable[[ApiExecution], int]
    ) -> types.ExecutionResult:
        require_visible_request(self._compiled.model, request)
        try:
            execution = ApiExecution(self._compiled, request, terms)
            try:
                return execution.result(run(execution))
            finally:
                execution.free()
        except CallError as error:
            raise as_service_error(error) from None


class BoundExecution(hal.Execution):
    """A request and how to execute it."""

    def __init__(self, model: RuntimePreparedModel, request: types.Request, config: types.ExecutionConfig) -> None:
        self._model, self._request, self._config = model, request, config

    def execute_synchronously(self, deadline_ns: int) -> types.ExecutionResult:
        """See PreparedModel."""
        return self._model.execute_synchronously_with_config(self._request, self._config, deadline_ns)

    def execute_fenced(
        self, wait_for: tuple[hal.Fence, ...], deadline_ns: int, duration_ns: int
    ) -> hal.FencedExecutionResult:
        """See PreparedModel."""
        return self._model.execute_fenced_with_config(self._request, wait_for, self._config, deadline_ns, duration_ns)


Executed = Callable[[types.Request, Terms, Callable[[ApiExecution], int]], types.ExecutionResult]
"""Executes a request on terms, by a function that computes."""


class RuntimeBurst(hal.Burst):
    """An ANeuralNetworksBurst. What a driver keeps under identifier tokens is the runtime's business."""

    def __init__(self, compiled: Compiled, handle: int, executed: Executed) -> None:
        self._runtime, self._handle, self._executed = compiled.runtime, handle, executed
        weakref.finalize(self, compiled.at_end, functools.partial(self._runtime.burst_free, handle))

    def execute_synchronously(
        self,
        request: types.Request,
        memory_identifier_tokens: tuple[int, ...],
        measure_timing: bool,
        deadline_ns: int,
        loop_timeout_duration_ns: int,
    ) -> types.ExecutionResult:
        """ANeuralNetworksExecution_burstCompute."""
        compute = functools.partial(_burst_compute, self._runtime, self._handle)
        return self._executed(request, Terms(measure_timing, deadline_ns, loop_timeout_duration_ns), compute)

    def execute_synchronously_with_config(
        self,
        request: types.Request,
        memory_identifier_tokens: tuple[int, ...],
        config: types.ExecutionConfig,
        deadline_ns: int,
    ) -> types.ExecutionResult:
        """See execute_synchronously."""
        require_without_hints(config.execution_hints)
        terms = config.measure_timing, deadline_ns, config.loop_timeout_duration_ns
        return self.execute_synchronously(request, memory_identifier_tokens, *terms)

    def release_memory_resource(self, memory_identifier_token: int) -> None:
        """Refused: an app has no such tokens."""
        raise NotVisible("identifier tokens of memory are between a runtime and its drivers")


def _burst_compute(runtime: Runtime, burst: int, execution: ApiExecution) -> int:
    return runtime.execution_burst_compute(execution.handle, burst)
