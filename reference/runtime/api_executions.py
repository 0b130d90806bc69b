"""ANeuralNetworksExecution_* and ANeuralNetworksEvent_*."""

from __future__ import annotations

from npu_conformance.reference.runtime.api_base import ApiBase
from npu_conformance.reference.runtime.api_compilations import null
from npu_conformance.reference.runtime.backend import RuntimeFailure
from npu_conformance.reference.runtime.calls import answer, code, not_null
from npu_conformance.reference.runtime.objects.burst import Burst
from npu_conformance.reference.runtime.objects.compilation import Compilation
from npu_conformance.reference.runtime.objects.event import ApiEvent, FenceEvent
from npu_conformance.reference.runtime.objects.execution import Execution
from npu_conformance.reference.runtime.objects.memory import MemoryObject
from npu_conformance.reference.runtime.objects.operands import bad_data
from npu_conformance.specs.neuralnetworks.hal import Fence
from npu_conformance.specs.neuralnetworks.runtime.executions import ExecutionFunctions
from npu_conformance.specs.neuralnetworks.runtime.result_codes import UNAVAILABLE_DURATION, DurationCode, ResultCode
from npu_conformance.specs.neuralnetworks.runtime.types import (
    FenceAnswer,
    Handle,
    Number,
    Numbers,
    OperandDescription,
    Pointer,
)

_OK = ResultCode.NO_ERROR


def _no_duration(result: ResultCode) -> Number:
    """A duration is only written where the code was legal."""
    return Number(result, UNAVAILABLE_DURATION) if result == ResultCode.BAD_STATE else Number(result)


class ExecutionApi(ApiBase, ExecutionFunctions):
    """Executions and events. What each function does is said in ExecutionFunctions."""

    def _execution(self, handle: int) -> Execution:
        return self.handles.get(Execution, handle)

    @answer(Handle, null)
    def execution_create(self, compilation: int, execution: bool) -> Handle:
        """See ExecutionFunctions."""
        not_null(compilation, execution)
        return Handle(_OK, self.handles.add(Execution(self.handles.get(Compilation, compilation))))

    def execution_free(self, execution: int) -> None:
        """See ExecutionFunctions (FW-EXE-021)."""
        found = self.handles.find(Execution, execution)
        if found is not None and not found.is_running:
            self.handles.free(Execution, execution)

    @code
    def execution_set_input(
        self, execution: int, index: int, type: OperandDescription | None, buffer: Pointer | None, length: int
    ) -> None:
        """See ExecutionFunctions."""
        not_null(execution, buffer or not length)
        self._execution(execution).set_pointer(True, index, type, buffer, length)

    @code
    def execution_set_input_from_memory(
        self, execution: int, index: int, type: OperandDescription | None, memory: int, offset: int, length: int
    ) -> None:
        """See ExecutionFunctions."""
        not_null(execution, memory)
        place = self.handles.get(MemoryObject, memory)
        self._execution(execution).set_memory(True, index, type, place, offset, length)

    @code
    def execution_set_output(
        self, execution: int, index: int, type: OperandDescription | None, buffer: Pointer | None, length: int
    ) -> None:
        """See ExecutionFunctions."""
        not_null(execution, buffer or not length)
        self._execution(execution).set_pointer(False, index, type, buffer, length)

    @code
    def execution_set_output_from_memory(
        self, execution: int, index: int, type: OperandDescription | None, memory: int, offset: int, length: int
    ) -> None:
        """See ExecutionFunctions."""
        not_null(execution, memory)
        place = self.handles.get(MemoryObject, memory)
        self._execution(execution).set_memory(False, index, type, place, offset, length)

    @code
    def execution_set_measure_timing(self, execution: int, measure: bool) -> None:
        """See ExecutionFunctions."""
        self._execution(execution).set_measure_timing(measure)

    @code
    def execution_set_timeout(self, execution: int, duration: int) -> None:
        """See ExecutionFunctions."""
        self._execution(execution).set_timeout(duration)

    @code
    def execution_set_loop_timeout(self, execution: int, duration: int) -> None:
        """See ExecutionFunctions."""
        self._execution(execution).set_loop_timeout(duration)

    @code
    def execution_enable_input_and_output_padding(self, execution: int, enable: bool) -> None:
        """See ExecutionFunctions."""
        self._execution(execution).enable_padding(enable)

    @code
    def execution_set_reusable(self, execution: int, reusable: bool) -> None:
        """See ExecutionFunctions."""
        self._execution(execution).set_reusable(reusable)

    @code
    def execution_add_extension_attribute(
        self,
        execution: int,
        extension_name: str | None,
        attribute_code_within_extension: int,
        data: Pointer | None,
        length: int,
    ) -> None:
        """See ExecutionFunctions."""
        not_null(execution, extension_name, data or not length)
        assert extension_name is not None
        self._execution(execution).add_hint(extension_name, attribute_code_within_extension, data, length)

    @answer(int)
    def execution_compute(self, execution: int) -> int:
        """See ExecutionFunctions."""
        return self._execution(execution).compute()

    @answer(Handle, null)
    def execution_start_compute(self, execution: int, event: bool) -> Handle:
        """See ExecutionFunctions (FW-EXE-012)."""
        not_null(event)
        return Handle(_OK, self.handles.add(ApiEvent(self._execution(execution).start())))

    @answer(int)
    def execution_burst_compute(self, execution: int, burst: int) -> int:
        """See ExecutionFunctions."""
        not_null(execution, burst)
        return self._execution(execution).burst_compute(self.handles.get(Burst, burst))

    @answer(Handle, null)
    def execution_start_compute_with_dependencies(
        self, execution: int, dependencies: tuple[int, ...] | None, num_dependencies: int, duration: int, event: bool
    ) -> Handle:
        """See ExecutionFunctions."""
        not_null(event)
        if dependencies is None and num_dependencies:
            raise RuntimeFailure(ResultCode.UNEXPECTED_NULL, "the list of dependencies is null")
        found = self._execution(execution)
        events = [self.handles.get(ApiEvent, one).event for one in (dependencies or ())[:num_dependencies]]
        return Handle(_OK, self.handles.add(ApiEvent(found.start_after(events, duration))))

    @answer(Number)
    def execution_get_output_operand_rank(self, execution: int, index: int, rank: bool) -> Number:
        """See ExecutionFunctions (FW-EXE-018)."""
        not_null(execution, rank)
        shape = self._execution(execution).results.shape(index)
        return Number(_shape_code(shape.is_sufficient), len(shape.dimensions))

    @answer(Numbers)
    def execution_get_output_operand_dimensions(self, execution: int, index: int, dimensions: bool) -> Numbers:
        """See ExecutionFunctions (FW-EXE-018)."""
        not_null(execution, dimensions)
        shape = self._execution(execution).results.shape(index)
        if not shape.dimensions:
            raise bad_data("a scalar, or an output of unknown rank, has no dimensions")
        return Numbers(_shape_code(shape.is_sufficient), shape.dimensions)

    @answer(Number, _no_duration)
    def execution_get_duration(self, execution: int, duration_code: int, duration: bool) -> Number:
        """See ExecutionFunctions."""
        not_null(execution, duration)
        found = self._execution(execution)
        if duration_code not in list(DurationCode):
            raise bad_data(f"there is no duration {duration_code}")
        return Number(_OK, found.duration(duration_code))

    @answer(int)
    def event_wait(self, event: int) -> int:
        """See ExecutionFunctions."""
        return self.handles.get(ApiEvent, event).event.wait()

    def event_free(self, event: int) -> None:
        """See ExecutionFunctions."""
        found = self.handles.find(ApiEvent, event)
        if found is not None:
            found.event.wait()
            self.handles.free(ApiEvent, event)

    @answer(Handle, null)
    def event_create_from_sync_fence_fd(self, fence: Fence | None, sync_fence_fd: int, event: bool) -> Handle:
        """See ExecutionFunctions (FW-EXE-025)."""
        not_null(event)
        if fence is None:
            raise bad_data(f"{sync_fence_fd} is no descriptor of a sync fence")
        return Handle(_OK, self.handles.add(ApiEvent(FenceEvent(fence))))

    @answer(FenceAnswer)
    def event_get_sync_fence_fd(self, event: int, sync_fence_fd: bool) -> FenceAnswer:
        """See ExecutionFunctions (FW-EXE-024)."""
        not_null(event, sync_fence_fd)
        fence = self.handles.get(ApiEvent, event).event.fence
        if fence is None:
            is_new = self.environment.is_since_level_5
            raise RuntimeFailure(ResultCode.BAD_DATA if is_new else ResultCode.OP_FAILED, "the event has no fence")
        return FenceAnswer(_OK, fence)


def _shape_code(is_sufficient: bool) -> ResultCode:
    return _OK if is_sufficient else ResultCode.OUTPUT_INSUFFICIENT_SIZE
