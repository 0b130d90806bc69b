"""hal.PreparedModel of the reference: the forms in which a model can be executed."""

from __future__ import annotations

import contextlib
import threading

from npu_conformance.reference.extensions import hints
from npu_conformance.reference.hal import burst, fenced, timing
from npu_conformance.reference.hal.execution import Execution, Prepared, Terms
from npu_conformance.reference.hal.reusable import ReferenceExecution
from npu_conformance.specs.errors import DeadObject, ServiceError
from npu_conformance.specs.neuralnetworks import hal, types
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus
from npu_conformance.specs.versions import Version


class ReferencePreparedModel(hal.PreparedModel):
    """A prepared model. Holds no reference to the device, nor the device to it (NNHAL-PREPARE-017)."""

    def __init__(self, prepared: Prepared) -> None:
        """prepared: what all executions share."""
        self._prepared = prepared
        self.model, self.version = prepared.model, prepared.version

    @property
    def prepared(self) -> Prepared:
        """What the executions share; the roles of buffers know the model by it."""
        return self._prepared

    def execute(
        self,
        request: types.Request,
        measure_timing: bool,
        deadline_ns: int,
        loop_timeout_duration_ns: int,
        callback: hal.ExecutionCallback | None,
    ) -> None:
        """Execute in HIDL's asynchronous form: check the arguments, and leave the rest to a thread of its own."""
        if callback is None:
            raise ServiceError(ErrorStatus.INVALID_ARGUMENT, "the callback is null")
        try:
            execution = self._launch(request, Terms(measure_timing, deadline_ns, loop_timeout_duration_ns))
        except ServiceError as error:
            self._notify_failure(callback, error.status)
            raise
        threading.Thread(target=self._finish, args=(execution, callback), daemon=True).start()

    def execute_synchronously(
        self, request: types.Request, measure_timing: bool, deadline_ns: int, loop_timeout_duration_ns: int
    ) -> types.ExecutionResult:
        """Check the arguments, then run."""
        return self._launch(request, Terms(measure_timing, deadline_ns, loop_timeout_duration_ns)).run()

    def create_reusable_execution(self, request: types.Request, config: types.ExecutionConfig) -> hal.Execution:
        """Bind a request that is to be executed many times."""
        return ReferenceExecution(self._prepared, request, config)

    def execute_synchronously_with_config(
        self, request: types.Request, config: types.ExecutionConfig, deadline_ns: int
    ) -> types.ExecutionResult:
        """As execute_synchronously, whatever the hints are (NNHAL-EXECUTE-013)."""
        hints.take("execution", config.execution_hints, config.extension_name_to_prefix)
        return self.execute_synchronously(request, config.measure_timing, deadline_ns, config.loop_timeout_duration_ns)

    def configure_execution_burst_on_queues(
        self,
        callback: hal.BurstCallback | None,
        requests: types.QueueDescriptor,
        results: types.QueueDescriptor,
    ) -> hal.BurstContext:
        """Open HIDL's burst."""
        return burst.open_on_queues(self._prepared, callback, requests, results)

    def configure_execution_burst(self) -> hal.Burst:
        """Open AIDL's burst."""
        return burst.ReferenceBurst(self._prepared)

    def execute_fenced(
        self,
        request: types.Request,
        wait_for: tuple[hal.Fence | None, ...],
        measure_timing: bool,
        deadline_ns: int,
        loop_timeout_duration_ns: int,
        duration_ns: int,
    ) -> hal.FencedExecutionResult:
        """Check the arguments, and leave the rest to the fences."""
        terms = Terms(measure_timing, deadline_ns, loop_timeout_duration_ns)
        execution = Execution(self._prepared, request, terms, fenced=True)
        return fenced.launch(self._prepared, execution, wait_for, duration_ns)

    def execute_fenced_with_config(
        self,
        request: types.Request,
        wait_for: tuple[hal.Fence, ...],
        config: types.ExecutionConfig,
        deadline_ns: int,
        duration_ns: int,
    ) -> hal.FencedExecutionResult:
        """As execute_fenced, whatever the hints are (NNHAL-EXECUTE-013)."""
        hints.take("execution", config.execution_hints, config.extension_name_to_prefix)
        loop_timeout = config.loop_timeout_duration_ns
        return self.execute_fenced(request, wait_for, config.measure_timing, deadline_ns, loop_timeout, duration_ns)

    def _launch(self, request: types.Request, terms: Terms) -> Execution:
        return Execution(self._prepared, request, terms)

    def _finish(self, execution: Execution, callback: hal.ExecutionCallback) -> None:
        """Run to the end and notify, once, whatever happens."""
        try:
            result = execution.run()
        except ServiceError as error:
            self._notify_failure(callback, error.status)
        except BaseException:
            self._notify_failure(callback, ErrorStatus.GENERAL_FAILURE)
            raise
        else:
            self._notify(callback, result.status, result.output_shapes, result.timing)

    def _notify_failure(self, callback: hal.ExecutionCallback, status: int) -> None:
        self._notify(callback, status, (), timing.unavailable_timing(self.version))

    def _notify(
        self, callback: hal.ExecutionCallback, status: int, shapes: tuple[types.OutputShape, ...], times: types.Timing
    ) -> None:
        has_result = self.version >= Version.V1_2
        # A client that died meanwhile needs no answer.
        with contextlib.suppress(DeadObject):
            callback.notify(status, shapes if has_result else (), times if has_result else None)
