"""The NNAPI C API: executions and events."""

from __future__ import annotations

from npu_conformance.specs.interfaces import Interface, method, refuse
from npu_conformance.specs.neuralnetworks.hal import Fence
from npu_conformance.specs.neuralnetworks.runtime.types import (
    FenceAnswer,
    Handle,
    Number,
    Numbers,
    OperandDescription,
    Pointer,
)
from npu_conformance.specs.versions import Version


class ExecutionFunctions(Interface):
    """ANeuralNetworksExecution_* and ANeuralNetworksEvent_*."""

    @method()
    def execution_create(self, compilation: int, execution: bool) -> Handle:
        """Make an execution of a finished compilation."""
        raise refuse("Runtime.executionCreate")

    @method()
    def execution_free(self, execution: int) -> None:
        """Destroy an execution; null is ignored, and so is one that is under way."""
        raise refuse("Runtime.executionFree")

    @method()
    def execution_set_input(
        self, execution: int, index: int, type: OperandDescription | None, buffer: Pointer | None, length: int
    ) -> int:
        """Say where an input lies. type: overrides what the model left unknown. Null and 0: it is omitted."""
        raise refuse("Runtime.executionSetInput")

    @method()
    def execution_set_input_from_memory(
        self, execution: int, index: int, type: OperandDescription | None, memory: int, offset: int, length: int
    ) -> int:
        """Say where in a memory object an input lies; offset and length are 0 for memory from a descriptor."""
        raise refuse("Runtime.executionSetInputFromMemory")

    @method()
    def execution_set_output(
        self, execution: int, index: int, type: OperandDescription | None, buffer: Pointer | None, length: int
    ) -> int:
        """Say where an output goes."""
        raise refuse("Runtime.executionSetOutput")

    @method()
    def execution_set_output_from_memory(
        self, execution: int, index: int, type: OperandDescription | None, memory: int, offset: int, length: int
    ) -> int:
        """Say where in a memory object an output goes."""
        raise refuse("Runtime.executionSetOutputFromMemory")

    @method(since=Version.V1_2)
    def execution_set_measure_timing(self, execution: int, measure: bool) -> int:
        """Have the durations measured."""
        raise refuse("Runtime.executionSetMeasureTiming")

    @method(since=Version.V1_3)
    def execution_set_timeout(self, execution: int, duration: int) -> int:
        """duration: nanoseconds that the execution may take, 0 for any."""
        raise refuse("Runtime.executionSetTimeout")

    @method(since=Version.V1_3)
    def execution_set_loop_timeout(self, execution: int, duration: int) -> int:
        """duration: nanoseconds that a WHILE may take; more than the maximum is the maximum."""
        raise refuse("Runtime.executionSetLoopTimeout")

    @method(since=Version.FL5)
    def execution_enable_input_and_output_padding(self, execution: int, enable: bool) -> int:
        """Allow buffers to be longer than their operands."""
        raise refuse("Runtime.executionEnableInputAndOutputPadding")

    @method(since=Version.FL5)
    def execution_set_reusable(self, execution: int, reusable: bool) -> int:
        """Allow more than one computation, one after the other."""
        raise refuse("Runtime.executionSetReusable")

    @method(since=Version.FL8)
    def execution_add_extension_attribute(
        self,
        execution: int,
        extension_name: str | None,
        attribute_code_within_extension: int,
        data: Pointer | None,
        length: int,
    ) -> int:
        """Give a vendor's hint to the execution."""
        raise refuse("Runtime.executionAddExtensionAttribute")

    @method(since=Version.V1_2)
    def execution_compute(self, execution: int) -> int:
        """Execute, and return when it is over."""
        raise refuse("Runtime.executionCompute")

    @method()
    def execution_start_compute(self, execution: int, event: bool) -> Handle:
        """Execute, and return an event that tells when it is over. On an error the event is NULL."""
        raise refuse("Runtime.executionStartCompute")

    @method(since=Version.V1_2)
    def execution_burst_compute(self, execution: int, burst: int) -> int:
        """Execute over a burst, and return when it is over."""
        raise refuse("Runtime.executionBurstCompute")

    @method(since=Version.V1_3)
    def execution_start_compute_with_dependencies(
        self, execution: int, dependencies: tuple[int, ...] | None, num_dependencies: int, duration: int, event: bool
    ) -> Handle:
        """Execute once events have signalled. duration: nanoseconds from then on, 0 for any."""
        raise refuse("Runtime.executionStartComputeWithDependencies")

    @method(since=Version.V1_2)
    def execution_get_output_operand_rank(self, execution: int, index: int, rank: bool) -> Number:
        """The rank that an output turned out to have."""
        raise refuse("Runtime.executionGetOutputOperandRank")

    @method(since=Version.V1_2)
    def execution_get_output_operand_dimensions(self, execution: int, index: int, dimensions: bool) -> Numbers:
        """The dimensions that an output turned out to have; room for as many as its rank is passed."""
        raise refuse("Runtime.executionGetOutputOperandDimensions")

    @method(since=Version.V1_2)
    def execution_get_duration(self, execution: int, duration_code: int, duration: bool) -> Number:
        """Nanoseconds; NO_DURATION where there are none."""
        raise refuse("Runtime.executionGetDuration")

    @method()
    def event_wait(self, event: int) -> int:
        """Wait for an event; returns the result code of its execution."""
        raise refuse("Runtime.eventWait")

    @method()
    def event_free(self, event: int) -> None:
        """Destroy an event, after waiting for it; null is ignored."""
        raise refuse("Runtime.eventFree")

    @method(since=Version.V1_3)
    def event_create_from_sync_fence_fd(self, fence: Fence | None, sync_fence_fd: int, event: bool) -> Handle:
        """Make an event of a sync fence. sync_fence_fd: where fence is None, a number that is no descriptor of one."""
        raise refuse("Runtime.eventCreateFromSyncFenceFd")

    @method(since=Version.V1_3)
    def event_get_sync_fence_fd(self, event: int, sync_fence_fd: bool) -> FenceAnswer:
        """The fence behind an event, where it has one."""
        raise refuse("Runtime.eventGetSyncFenceFd")
