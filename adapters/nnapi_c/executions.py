"""ANeuralNetworksExecution_* and ANeuralNetworksEvent_*, called in the library."""

from __future__ import annotations

import os
import weakref
from typing import Any

from npu_conformance.adapters.nnapi_c import fences
from npu_conformance.adapters.nnapi_c.arguments import Written, numbers, operand_type, text
from npu_conformance.adapters.nnapi_c.caller import Caller
from npu_conformance.adapters.nnapi_c.library import Library
from npu_conformance.specs.neuralnetworks.hal import Fence
from npu_conformance.specs.neuralnetworks.runtime.executions import ExecutionFunctions
from npu_conformance.specs.neuralnetworks.runtime.types import (
    FenceAnswer,
    Handle,
    Number,
    Numbers,
    OperandDescription,
    Pointer,
)
from npu_conformance.specs.plugin import Descriptors, MemoryMap

_MOST_DIMENSIONS = 4096
"""Room for the dimensions of an output: a runtime knows how many it writes, its caller only where it is right."""


class Executions(Caller, ExecutionFunctions):
    """See ExecutionFunctions: every method calls the C function of its name, and does nothing else."""

    def __init__(self, library: Library, memory: MemoryMap, descriptors: Descriptors) -> None:
        super().__init__(library, memory, descriptors)
        self._open_fences: weakref.WeakSet[Fence] = weakref.WeakSet()

    def _blocking(self, method: str, *arguments: Any) -> Any:
        """Call a function that may wait for fences of the caller's: the news of them arrive meanwhile."""
        self._open_fences = weakref.WeakSet(fences.unsettled(self._open_fences))
        return fences.call_while_open(tuple(self._open_fences), lambda: self._call(method, *arguments))

    def execution_create(self, compilation: int, execution: bool) -> Handle:
        handle = Written("Handle", execution)
        made = Handle(self._call("execution_create", compilation, handle), handle.value())
        self._begin(made.handle)
        return made

    def execution_free(self, execution: int) -> None:
        self._call("execution_free", execution)
        self._end(execution)

    def execution_set_input(
        self, execution: int, index: int, type: OperandDescription | None, buffer: Pointer | None, length: int
    ) -> int:
        where = self._address(execution, buffer)
        return int(self._call("execution_set_input", execution, index, operand_type(type), where, length))

    def execution_set_input_from_memory(
        self, execution: int, index: int, type: OperandDescription | None, memory: int, offset: int, length: int
    ) -> int:
        arguments = execution, index, operand_type(type), memory, offset, length
        return int(self._call("execution_set_input_from_memory", *arguments))

    def execution_set_output(
        self, execution: int, index: int, type: OperandDescription | None, buffer: Pointer | None, length: int
    ) -> int:
        where = self._address(execution, buffer)
        return int(self._call("execution_set_output", execution, index, operand_type(type), where, length))

    def execution_set_output_from_memory(
        self, execution: int, index: int, type: OperandDescription | None, memory: int, offset: int, length: int
    ) -> int:
        arguments = execution, index, operand_type(type), memory, offset, length
        return int(self._call("execution_set_output_from_memory", *arguments))

    def execution_set_measure_timing(self, execution: int, measure: bool) -> int:
        return int(self._call("execution_set_measure_timing", execution, measure))

    def execution_set_timeout(self, execution: int, duration: int) -> int:
        return int(self._call("execution_set_timeout", execution, duration))

    def execution_set_loop_timeout(self, execution: int, duration: int) -> int:
        return int(self._call("execution_set_loop_timeout", execution, duration))

    def execution_enable_input_and_output_padding(self, execution: int, enable: bool) -> int:
        return int(self._call("execution_enable_input_and_output_padding", execution, enable))

    def execution_set_reusable(self, execution: int, reusable: bool) -> int:
        return int(self._call("execution_set_reusable", execution, reusable))

    def execution_add_extension_attribute(
        self,
        execution: int,
        extension_name: str | None,
        attribute_code_within_extension: int,
        data: Pointer | None,
        length: int,
    ) -> int:
        value = self._address(execution, data)
        arguments = execution, text(extension_name), attribute_code_within_extension, value, length
        return int(self._call("execution_add_extension_attribute", *arguments))

    def execution_compute(self, execution: int) -> int:
        return int(self._call("execution_compute", execution))

    def execution_start_compute(self, execution: int, event: bool) -> Handle:
        handle = Written("Handle", event)
        result = self._call("execution_start_compute", execution, handle)
        self._share(handle.value(), execution)
        return Handle(result, handle.value())

    def execution_burst_compute(self, execution: int, burst: int) -> int:
        return int(self._call("execution_burst_compute", execution, burst))

    def execution_start_compute_with_dependencies(
        self, execution: int, dependencies: tuple[int, ...] | None, num_dependencies: int, duration: int, event: bool
    ) -> Handle:
        handle = Written("Handle", event)
        arguments = execution, numbers(dependencies, "Handle"), num_dependencies, duration, handle
        result = self._blocking("execution_start_compute_with_dependencies", *arguments)
        self._share(handle.value(), execution)
        return Handle(result, handle.value())

    def execution_get_output_operand_rank(self, execution: int, index: int, rank: bool) -> Number:
        found = Written("uint32_t", rank)
        return Number(self._call("execution_get_output_operand_rank", execution, index, found), found.value())

    def execution_get_output_operand_dimensions(self, execution: int, index: int, dimensions: bool) -> Numbers:
        found = Written("uint32_t", dimensions, _MOST_DIMENSIONS)
        return Numbers(self._call("execution_get_output_operand_dimensions", execution, index, found), found.values())

    def execution_get_duration(self, execution: int, duration_code: int, duration: bool) -> Number:
        found = Written("uint64_t", duration)
        return Number(self._call("execution_get_duration", execution, duration_code, found), found.value())

    def event_wait(self, event: int) -> int:
        return int(self._blocking("event_wait", event))

    def event_free(self, event: int) -> None:
        self._blocking("event_free", event)
        self._end(event)

    def event_create_from_sync_fence_fd(self, fence: Fence | None, sync_fence_fd: int, event: bool) -> Handle:
        handle = Written("Handle", event)
        descriptor = sync_fence_fd if fence is None else fences.descriptor_of(fence)
        if fence is not None:
            self._open_fences.add(fence)
        try:
            return Handle(self._call("event_create_from_sync_fence_fd", descriptor, handle), handle.value())
        finally:
            if fence is not None:  # the runtime has made a duplicate of its own
                os.close(descriptor)

    def event_get_sync_fence_fd(self, event: int, sync_fence_fd: bool) -> FenceAnswer:
        found = Written("int", sync_fence_fd)
        result = self._call("event_get_sync_fence_fd", event, found)
        return FenceAnswer(result, fences.DescriptorFence(found.value()) if found.value() >= 0 else None)
