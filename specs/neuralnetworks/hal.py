"""Interfaces of the Neural Networks HAL, one canonical shape for HIDL 1.0 to 1.3 and AIDL v1 to v4.

A device states its version; `since` and `until` say which methods that version has. Implement what the version
has and leave the rest: the base class refuses it. A method that HIDL versioned by name (prepareModel_1_2) is one
method here, and arguments that a version does not know say nothing: -1, False, an empty tuple, None.

Times are in nanoseconds. deadline_ns is a point in time of CLOCK_BOOTTIME, -1 for none (a HIDL driver may reckon by the
steady clock, and meet the largest number of 64 bits for none). duration_ns and loop_timeout_duration_ns are lengths, -1
where the caller sets no limit. A driver may ignore deadlines.
"""

from __future__ import annotations

import functools

from npu_conformance.specs.interfaces import Interface, method, refuse
from npu_conformance.specs.neuralnetworks import types
from npu_conformance.specs.neuralnetworks.enums import EXHAUSTED, MISSED, ErrorStatus
from npu_conformance.specs.versions import HIDL_LAST, Version
from npu_conformance.specs.wire_types import Wire


class Fence(Interface):
    """A sync fence: unsignalled, signalled or in error (`FenceState`). A descriptor on Android, an object here."""

    @method(since=Version.V1_3)
    def get_state(self) -> int:
        """Return the FenceState at this moment, without waiting."""
        raise refuse("Fence.getState")

    @method(since=Version.V1_3)
    def wait(self, timeout_ns: int) -> int:
        """Wait until the fence leaves UNSIGNALLED, at most timeout_ns nanoseconds; return its FenceState."""
        raise refuse("Fence.wait")


class PreparedModelCallback(Interface):
    """Receives the outcome of a preparation, exactly once."""

    @method(oneway=True)
    def notify(self, status: int, prepared_model: PreparedModel | None) -> None:
        """status: ErrorStatus. prepared_model: None unless status is NONE."""
        raise refuse("PreparedModelCallback.notify")


class ExecutionCallback(Interface):
    """Receives the outcome of an asynchronous execution, exactly once. HIDL only."""

    @method(until=HIDL_LAST, oneway=True)
    def notify(self, status: int, output_shapes: tuple[types.OutputShape, ...], timing: types.Timing | None) -> None:
        """status: ErrorStatus. output_shapes and timing: since 1.2, before that empty and None."""
        raise refuse("ExecutionCallback.notify")


class FencedExecutionInfo(Wire, frozen=True):
    """Answer of FencedExecutionCallback.get_execution_info."""

    status: int
    timing_launched: types.Timing
    timing_fenced: types.Timing


class FencedExecutionCallback(Interface):
    """Reports the outcome of a fenced execution, once its fence has signalled."""

    @method(since=Version.V1_3)
    def get_execution_info(self) -> FencedExecutionInfo:
        """Return the ErrorStatus and both timings; GENERAL_FAILURE before the execution has finished."""
        raise refuse("FencedExecutionCallback.getExecutionInfo")


class FencedExecutionResult(Wire, frozen=True):
    """Answer of execute_fenced. sync_fence is None where the execution had finished when the call returned."""

    callback: FencedExecutionCallback | None
    sync_fence: Fence | None


class Buffer(Interface):
    """A buffer that the driver manages."""

    @method(since=Version.V1_3, statuses="NUGA")
    def copy_to(self, dst: types.Memory) -> None:
        """Copy the content to shared memory of exactly the buffer's size."""
        raise refuse("Buffer.copyTo")

    @method(since=Version.V1_3, statuses="NUGA")
    def copy_from(self, src: types.Memory, dimensions: tuple[int, ...]) -> None:
        """Fill the buffer. dimensions: the shape, where the buffer's own is not fully known; else empty."""
        raise refuse("Buffer.copyFrom")


class DeviceBuffer(Wire, frozen=True):
    """Answer of allocate: the buffer, and the positive token by which requests name it."""

    buffer: Buffer
    token: int


class BurstCallback(Interface):
    """Tells a HIDL burst which memory its slots are."""

    @method(since=Version.V1_2, until=HIDL_LAST, statuses="NGA")
    def get_memories(self, slots: tuple[int, ...]) -> tuple[types.Memory, ...]:
        """Return the memory of each slot; INVALID_ARGUMENT where one is not known (NNHAL-BURST-009, -011)."""
        raise refuse("BurstCallback.getMemories")


class BurstContext(Interface):
    """A HIDL burst: it answers packets for as long as the client holds this object."""

    @method(since=Version.V1_2, until=HIDL_LAST)
    def free_memory(self, slot: int) -> None:
        """Forget what is cached of a slot; without effect where nothing is (NNHAL-BURST-010)."""
        raise refuse("BurstContext.freeMemory")

    @method(since=Version.V1_2, until=HIDL_LAST)
    def execute_packet(self, packet: bytes) -> bytes:
        """Answer one request packet with its result packet, where no memory is shared that a queue could lie in.

        No part of HIDL: it stands for writing to the request queue and reading from the result queue.
        """
        raise refuse("BurstContext.executePacket")


class Burst(Interface):
    """A channel for many executions of one prepared model (AIDL's IBurst)."""

    @method(since=Version.FL5, statuses="NUGAMR")
    def execute_synchronously(
        self,
        request: types.Request,
        memory_identifier_tokens: tuple[int, ...],
        measure_timing: bool,
        deadline_ns: int,
        loop_timeout_duration_ns: int,
    ) -> types.ExecutionResult:
        """Execute as PreparedModel does. memory_identifier_tokens: one for each pool, -1 for none."""
        raise refuse("Burst.executeSynchronously")

    @method(since=Version.FL5, statuses="NUGA")
    def release_memory_resource(self, memory_identifier_token: int) -> None:
        """Forget what is cached under the token."""
        raise refuse("Burst.releaseMemoryResource")

    @method(since=Version.FL8, statuses="NUGAMR")
    def execute_synchronously_with_config(
        self,
        request: types.Request,
        memory_identifier_tokens: tuple[int, ...],
        config: types.ExecutionConfig,
        deadline_ns: int,
    ) -> types.ExecutionResult:
        """Execute as execute_synchronously does, with hints."""
        raise refuse("Burst.executeSynchronouslyWithConfig")


class Execution(Interface):
    """A reusable execution: a request bound to a prepared model."""

    @method(since=Version.FL8, statuses="NUGAMR")
    def execute_synchronously(self, deadline_ns: int) -> types.ExecutionResult:
        """Run once more; only one run may be under way."""
        raise refuse("Execution.executeSynchronously")

    @method(since=Version.FL8, statuses="NUGAMR")
    def execute_fenced(self, wait_for: tuple[Fence, ...], deadline_ns: int, duration_ns: int) -> FencedExecutionResult:
        """Run once the fences have signalled."""
        raise refuse("Execution.executeFenced")


class PreparedModel(Interface):
    """A model made ready for one device."""

    @method(until=HIDL_LAST, statuses="NUGOAMR")
    def execute(
        self,
        request: types.Request,
        measure_timing: bool,
        deadline_ns: int,
        loop_timeout_duration_ns: int,
        callback: ExecutionCallback | None,
    ) -> None:
        """Launch an asynchronous execution. measure_timing since 1.2, deadline and loop timeout since 1.3."""
        raise refuse("PreparedModel.execute")

    @method(since=Version.V1_2, statuses="NUGOAMR")
    def execute_synchronously(
        self, request: types.Request, measure_timing: bool, deadline_ns: int, loop_timeout_duration_ns: int
    ) -> types.ExecutionResult:
        """Execute and return the outcome. HIDL's OUTPUT_INSUFFICIENT_SIZE is a result here, as in AIDL."""
        raise refuse("PreparedModel.executeSynchronously")

    @method(since=Version.V1_3, statuses="NUGAMR")
    def execute_fenced(
        self,
        request: types.Request,
        wait_for: tuple[Fence | None, ...],
        measure_timing: bool,
        deadline_ns: int,
        loop_timeout_duration_ns: int,
        duration_ns: int,
    ) -> FencedExecutionResult:
        """Launch an execution that starts once every fence has signalled.

        HIDL can express a null fence, which is refused with INVALID_ARGUMENT (NNHAL-FENCED-003). duration_ns: counts
        from the last signal.
        """
        raise refuse("PreparedModel.executeFenced")

    @method(since=Version.V1_2, until=HIDL_LAST, statuses="NUGA")
    def configure_execution_burst_on_queues(
        self, callback: BurstCallback | None, requests: types.QueueDescriptor, results: types.QueueDescriptor
    ) -> BurstContext:
        """Open a burst over two fast message queues (HIDL's configureExecutionBurst). A null callback is refused."""
        raise refuse("PreparedModel.configureExecutionBurstOnQueues")

    @method(since=Version.FL5, statuses="NUGR")
    def configure_execution_burst(self) -> Burst:
        """Open a burst."""
        raise refuse("PreparedModel.configureExecutionBurst")

    @method(since=Version.FL8, statuses="NUGAR")
    def create_reusable_execution(self, request: types.Request, config: types.ExecutionConfig) -> Execution:
        """Bind a request, to be executed many times."""
        raise refuse("PreparedModel.createReusableExecution")

    @method(since=Version.FL8, statuses="NUGAMR")
    def execute_synchronously_with_config(
        self, request: types.Request, config: types.ExecutionConfig, deadline_ns: int
    ) -> types.ExecutionResult:
        """Execute as execute_synchronously does, with hints."""
        raise refuse("PreparedModel.executeSynchronouslyWithConfig")

    @method(since=Version.FL8, statuses="NUGAMR")
    def execute_fenced_with_config(
        self,
        request: types.Request,
        wait_for: tuple[Fence, ...],
        config: types.ExecutionConfig,
        deadline_ns: int,
        duration_ns: int,
    ) -> FencedExecutionResult:
        """Launch an execution as execute_fenced does, with hints."""
        raise refuse("PreparedModel.executeFencedWithConfig")


class Device(Interface):
    """The driver. Any process may call it; it validates everything (NNHAL-ROBUST-001)."""

    @method(statuses="NUG")
    def get_capabilities(self) -> types.Capabilities:
        """The performance of the device, by operand type."""
        raise refuse("Device.getCapabilities")

    @method(until=HIDL_LAST)
    def get_status(self) -> int:
        """The DeviceStatus at this moment. HIDL only."""
        raise refuse("Device.getStatus")

    @method(since=Version.V1_2, statuses="NUG")
    def get_version_string(self) -> str:
        """The version of the driver implementation; not empty."""
        raise refuse("Device.getVersionString")

    @method(since=Version.V1_2, statuses="NUG")
    def get_type(self) -> int:
        """The DeviceType."""
        raise refuse("Device.getType")

    @method(since=Version.V1_2, statuses="NUG")
    def get_supported_extensions(self) -> tuple[types.Extension, ...]:
        """Vendor extensions that are fully supported."""
        raise refuse("Device.getSupportedExtensions")

    @method(since=Version.V1_2, statuses="NUG")
    def get_number_of_cache_files_needed(self) -> types.NumberOfCacheFiles:
        """Files that compilation caching wants."""
        raise refuse("Device.getNumberOfCacheFilesNeeded")

    @method(statuses="NUGA")
    def get_supported_operations(self, model: types.Model) -> tuple[bool, ...]:
        """One answer for each operation of the main graph; INVALID_ARGUMENT for an invalid model."""
        raise refuse("Device.getSupportedOperations")

    @method(statuses="NUGAMR")
    def prepare_model(
        self,
        model: types.Model,
        preference: int,
        priority: int,
        deadline_ns: int,
        model_cache: tuple[types.CacheHandle, ...],
        data_cache: tuple[types.CacheHandle, ...],
        token: bytes,
        callback: PreparedModelCallback | None,
    ) -> None:
        """Launch a preparation; its outcome goes to the callback, exactly once, an argument error also to the caller.

        preference since 1.1, caches and token (32 bytes) since 1.2, priority and deadline since 1.3. A null callback is
        refused with INVALID_ARGUMENT (NNHAL-PREPARE-022).
        """
        raise refuse("Device.prepareModel")

    @method(since=Version.V1_2, statuses="NUGAMR")
    def prepare_model_from_cache(
        self,
        deadline_ns: int,
        model_cache: tuple[types.CacheHandle, ...],
        data_cache: tuple[types.CacheHandle, ...],
        token: bytes,
        callback: PreparedModelCallback | None,
    ) -> None:
        """Launch a preparation from cache files alone."""
        raise refuse("Device.prepareModelFromCache")

    @method(since=Version.FL8, statuses="NUGAMR")
    def prepare_model_with_config(
        self, model: types.Model, config: types.PrepareModelConfig, callback: PreparedModelCallback | None
    ) -> None:
        """Launch a preparation as prepare_model does, with hints."""
        raise refuse("Device.prepareModelWithConfig")

    @method(since=Version.V1_3, statuses="NUGAR")
    def allocate(
        self,
        desc: types.BufferDesc,
        prepared_models: tuple[PreparedModel | None, ...],
        input_roles: tuple[types.BufferRole, ...],
        output_roles: tuple[types.BufferRole, ...],
    ) -> DeviceBuffer:
        """Allocate a driver-managed buffer for the roles. GENERAL_FAILURE where the driver declines."""
        raise refuse("Device.allocate")


STATUS_LETTERS: dict[str, tuple[ErrorStatus, ...]] = {
    "N": (ErrorStatus.NONE,),
    "U": (ErrorStatus.DEVICE_UNAVAILABLE,),
    "G": (ErrorStatus.GENERAL_FAILURE,),
    "O": (ErrorStatus.OUTPUT_INSUFFICIENT_SIZE,),
    "A": (ErrorStatus.INVALID_ARGUMENT,),
    "M": tuple(sorted(MISSED)),
    "R": tuple(sorted(EXHAUSTED)),
}


@functools.cache
def documented_statuses(letters: str, version: Version) -> frozenset[ErrorStatus]:
    """The statuses a method may report at a version (NNHAL-ERROR-002, -006)."""
    return frozenset(status for letter in letters for status in STATUS_LETTERS[letter] if status.since <= version)
