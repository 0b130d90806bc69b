"""What the objects of the API and the plans behind them say to each other.

`objects` (models, compilations, executions, memories) know the rules of the C API; `planning` knows devices,
partitions, steps and fallback. A compilation asks a Compiler for a Plan; executions hand their arguments to the plan.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import msgspec

from npu_conformance.specs.neuralnetworks import hal, types
from npu_conformance.specs.neuralnetworks.enums import ExecutionPreference
from npu_conformance.specs.neuralnetworks.runtime.result_codes import ResultCode, RuntimePriority
from npu_conformance.specs.plugin import MemoryMap
from npu_conformance.specs.versions import Version


class RuntimeFailure(Exception):
    """What ends a call with a result code other than NO_ERROR."""

    def __init__(self, result: ResultCode, message: str) -> None:
        super().__init__(message)
        self.result = result


class Pools(MemoryMap, Protocol):
    """Makes memory that the devices reach, and maps all memory: the runtime's own and the app's."""

    def make(self, size: int) -> types.Memory:
        """Make a pool of zeros. size: in bytes; at least one is made."""
        ...

    def free(self, memory: types.Memory) -> None:
        """Forget a pool; one that is not known is ignored."""
        ...


class RuntimeDevice(Protocol):
    """A device as the runtime knows it: a driver, or the runtime's own CPU."""

    name: str
    version_string: str
    type: int
    feature_level: Version
    extensions: tuple[types.Extension, ...]
    is_cpu: bool

    def supported_operations(self, model: types.Model) -> tuple[bool, ...]:
        """For each operation of the main graph, whether the device can do it; an answer that is none counts as no."""
        ...

    def wait(self) -> ResultCode:
        """Wait until the driver is alive."""
        ...


class FinishedModel(msgspec.Struct, frozen=True):
    """A valid model. wire: in an order of execution, defaults stripped, with the graphs that it refers to.

    order: for each operation of wire.main, the index at which the app added it. keeps: objects that hold memory which
    wire.pools name; it may go with the last of them.
    """

    wire: types.Model
    order: tuple[int, ...]
    keeps: tuple[object, ...] = ()


class CompileOptions(msgspec.Struct, frozen=True):
    """How to compile. explicit: the app named the devices, so that there is no fallback. timeout_ns: 0 for none."""

    explicit: bool
    preference: int = ExecutionPreference.FAST_SINGLE_ANSWER
    priority: int = RuntimePriority.MEDIUM
    timeout_ns: int = 0
    cache_dir: str | None = None
    cache_token: bytes = b""
    hints: tuple[types.TokenValuePair, ...] = ()
    extensions: tuple[types.ExtensionNameAndPrefix, ...] = ()


class DriverBuffer(Protocol):
    """Memory made from a descriptor, on a device or in shared memory; see MemoryMaker.

    `objects` checks and writes both fields, before and after computing and copying.
    """

    dimensions: tuple[int, ...]
    """The shape last written; until then, what the descriptor says."""
    is_initialized: bool


class Argument(msgspec.Struct, frozen=True):
    """One input or output of an execution: bytes of a pool, a driver's buffer, or nothing where it is omitted.

    offset, length, padding in bytes. dimensions: those the app gave, else the model's. is_pointer: the app passed a
    pointer, not a memory object.
    """

    dimensions: tuple[int, ...] = ()
    memory: types.Memory | None = None
    offset: int = 0
    length: int = 0
    padding: int = 0
    buffer: DriverBuffer | None = None
    is_pointer: bool = False

    @property
    def has_no_value(self) -> bool:
        """Whether the app omitted it."""
        return self.memory is None and self.buffer is None


class ExecutionOptions(msgspec.Struct, frozen=True):
    """How to execute. timeouts in nanoseconds from the call on, 0 for none."""

    measure_timing: bool = False
    timeout_ns: int = 0
    loop_timeout_ns: int = 0
    hints: tuple[types.TokenValuePair, ...] = ()
    extensions: tuple[types.ExtensionNameAndPrefix, ...] = ()
    reusable: bool = False


class Outcome(msgspec.Struct, frozen=True):
    """How a computation ended. shapes: of all outputs, where the result is NO_ERROR or OUTPUT_INSUFFICIENT_SIZE.

    timing, fenced_timing: in nanoseconds, UNAVAILABLE_DURATION where there is none.
    """

    result: ResultCode
    shapes: tuple[types.OutputShape, ...] = ()
    timing: types.Timing | None = None
    fenced_timing: types.Timing | None = None


class StartedWork(Protocol):
    """A computation that was started with dependencies."""

    fence: hal.Fence | None
    """The last step's, where its driver returned one."""

    def wait(self) -> Outcome:
        """Wait until it is over."""
        ...


class PlanBurst(Protocol):
    """The bursts of the steps of a plan."""

    def close(self) -> None:
        """End them."""
        ...


class StepRole(msgspec.Struct, frozen=True):
    """One use of an input or output of a plan: as input or output number io_index of a device's prepared model."""

    device: RuntimeDevice
    prepared_model: hal.PreparedModel | None
    is_input: bool
    io_index: int


class Plan(Protocol):
    """A compiled model. Used by several executions at once."""

    def execute(
        self,
        inputs: Sequence[Argument],
        outputs: Sequence[Argument],
        options: ExecutionOptions,
        burst: PlanBurst | None = None,
    ) -> Outcome:
        """Compute, with the fallback that the rules allow."""
        ...

    def start(
        self,
        inputs: Sequence[Argument],
        outputs: Sequence[Argument],
        options: ExecutionOptions,
        wait_for: tuple[hal.Fence, ...],
        duration_ns: int,
    ) -> StartedWork:
        """Compute once the fences have signalled."""
        ...

    def open_burst(self) -> PlanBurst:
        """Open a burst for each step whose driver has them."""
        ...

    def memory_preference(self, is_input: bool, index: int) -> tuple[int, int]:
        """Preferred alignment and padding of an input or output, in bytes."""
        ...

    def roles(self, is_input: bool, index: int) -> tuple[StepRole, ...]:
        """Where the plan uses an input or output."""
        ...


class Compiler(Protocol):
    """Devices, and plans over them."""

    @property
    def devices(self) -> Sequence[RuntimeDevice]:
        """The registered drivers in order, then the CPU."""
        ...

    def compile(self, model: FinishedModel, devices: Sequence[RuntimeDevice], options: CompileOptions) -> Plan:
        """Partition a model and have the devices prepare their parts. Raises RuntimeFailure."""
        ...


class MemoryRole(msgspec.Struct, frozen=True):
    """A role that an app declared for memory from a descriptor."""

    plan: Plan
    is_input: bool
    index: int
    frequency: float


class MemoryDescription(msgspec.Struct, frozen=True):
    """What memory from a descriptor has to be. operand: type and quantisation of all roles; dimensions: merged."""

    operand: types.Operand
    dimensions: tuple[int, ...]
    roles: tuple[MemoryRole, ...] = msgspec.field(default_factory=tuple)


class MemoryMaker(Protocol):
    """Allocates and copies memory from descriptors."""

    def allocate(self, description: MemoryDescription, explicit: bool) -> DriverBuffer:
        """Allocate on the one device that all roles resolve to, else in shared memory. Raises RuntimeFailure."""
        ...

    def copy_to(self, buffer: DriverBuffer, destination: types.Memory) -> None:
        """Copy a driver's buffer to shared memory. Raises RuntimeFailure."""
        ...

    def copy_from(self, source: types.Memory, buffer: DriverBuffer) -> None:
        """Fill a driver's buffer from shared memory. Raises RuntimeFailure."""
        ...

    def free(self, buffer: DriverBuffer) -> None:
        """Give a buffer back."""
        ...
