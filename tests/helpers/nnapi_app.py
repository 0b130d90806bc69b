"""An app on the reference runtime, whose plans do as a test says: no device, no kernels."""

from __future__ import annotations

import struct
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from patience import SECONDS

from npu_conformance.reference.runtime.api import ReferenceRuntime
from npu_conformance.reference.runtime.app_memory import AppMemory
from npu_conformance.reference.runtime.backend import (
    Argument,
    CompileOptions,
    DriverBuffer,
    ExecutionOptions,
    FinishedModel,
    MemoryDescription,
    Outcome,
    PlanBurst,
    RuntimeDevice,
    RuntimeFailure,
    StepRole,
)
from npu_conformance.reference.runtime.objects.environment import Environment
from npu_conformance.reference.runtime.objects.extensions import Extensions
from npu_conformance.specs.errors import ServiceError
from npu_conformance.specs.neuralnetworks import hal, types
from npu_conformance.specs.neuralnetworks.enums import OperandType, OperationType
from npu_conformance.specs.neuralnetworks.runtime.result_codes import ResultCode
from npu_conformance.specs.neuralnetworks.runtime.types import OperandDescription, Pointer
from npu_conformance.specs.neuralnetworks.types import Memory, OutputShape
from npu_conformance.specs.plugin import MemoryMap
from npu_conformance.specs.versions import NEWEST, Version

VECTOR = OperandDescription(OperandType.TENSOR_FLOAT32, 1, (2,))
OPEN_VECTOR = OperandDescription(OperandType.TENSOR_FLOAT32, 1, (0,))
ACTIVATION = OperandDescription(OperandType.INT32)


class OwnMemory:
    """The app's memory, and the runtime's pools."""

    def __init__(self) -> None:
        self.contents: dict[int, bytearray] = {}

    def map(self, memory: Memory) -> memoryview:
        if memory.token not in self.contents:
            raise ServiceError(4, f"no memory {memory.token}")
        view = memoryview(self.contents[memory.token])[memory.offset : memory.offset + memory.size]
        return view if memory.prot & 2 else view.toreadonly()

    def make(self, size: int) -> Memory:
        token = max(self.contents, default=0) + 1
        self.contents[token] = bytearray(size)
        return Memory("ashmem", size, token)

    def free(self, memory: Memory) -> None:
        del self.contents[memory.token]


@dataclass(eq=False)
class ScriptedDevice:
    """A device that supports everything."""

    name: str
    version_string: str = "1"
    type: int = 4
    feature_level: Version = NEWEST
    extensions: tuple[types.Extension, ...] = ()
    is_cpu: bool = False
    supports: tuple[bool, ...] | None = None

    def supported_operations(self, model: types.Model) -> tuple[bool, ...]:
        return self.supports or (True,) * len(model.main.operations)

    def wait(self) -> ResultCode:
        return ResultCode.NO_ERROR


@dataclass
class ScriptedWork:
    """A computation with a fence."""

    outcome: Outcome
    fence: hal.Fence | None = None

    def wait(self) -> Outcome:
        if self.fence is not None:
            self.fence.wait(2**62)
        return self.outcome


class ScriptedBurst:
    """A burst that knows whether it was closed."""

    is_closed = False

    def close(self) -> None:
        self.is_closed = True


@dataclass(eq=False)
class ScriptedPlan:
    """A plan that computes nothing. outcome: of each computation. go_on: computations wait for it."""

    model: FinishedModel
    options: CompileOptions
    outcome: Outcome = field(default_factory=lambda: Outcome(ResultCode.NO_ERROR))
    go_on: threading.Event = field(default_factory=threading.Event)
    begun: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))
    fence: hal.Fence | None = None
    executions: list[tuple[list[Argument], list[Argument], ExecutionOptions]] = field(default_factory=list)
    burst: ScriptedBurst = field(default_factory=ScriptedBurst)

    def __post_init__(self) -> None:
        self.go_on.set()

    def execute(
        self,
        inputs: Sequence[Argument],
        outputs: Sequence[Argument],
        options: ExecutionOptions,
        burst: PlanBurst | None = None,
    ) -> Outcome:
        self.executions.append((list(inputs), list(outputs), options))
        self.begun.release()
        assert self.go_on.wait(SECONDS)
        return self.outcome

    def start(
        self,
        inputs: Sequence[Argument],
        outputs: Sequence[Argument],
        options: ExecutionOptions,
        wait_for: tuple[hal.Fence, ...],
        duration_ns: int,
    ) -> ScriptedWork:
        self.executions.append((list(inputs), list(outputs), options))
        return ScriptedWork(self.outcome, self.fence)

    def open_burst(self) -> PlanBurst:
        return self.burst

    def memory_preference(self, is_input: bool, index: int) -> tuple[int, int]:
        return 64, 32

    def roles(self, is_input: bool, index: int) -> tuple[StepRole, ...]:
        return ()


@dataclass
class ScriptedBuffer:
    """Memory from a descriptor."""

    dimensions: tuple[int, ...]
    is_initialized: bool = False
    content: bytes = b""


class ScriptedBackend:
    """Compiles to scripted plans, which it keeps, and makes buffers that remember bytes."""

    def __init__(self, memory: MemoryMap, devices: Sequence[RuntimeDevice]) -> None:
        self.devices, self._memory = devices, memory
        self.plans: list[ScriptedPlan] = []
        self.compile_failure: RuntimeFailure | None = None
        self.allocations: list[tuple[MemoryDescription, bool]] = []
        self.copy_failure: RuntimeFailure | None = None

    def compile(self, model: FinishedModel, devices: Sequence[RuntimeDevice], options: CompileOptions) -> ScriptedPlan:
        if self.compile_failure is not None:
            raise self.compile_failure
        self.plans.append(ScriptedPlan(model, options))
        return self.plans[-1]

    def allocate(self, description: MemoryDescription, explicit: bool) -> DriverBuffer:
        self.allocations.append((description, explicit))
        return ScriptedBuffer(description.dimensions)

    def copy_to(self, buffer: DriverBuffer, destination: Memory) -> None:
        assert isinstance(buffer, ScriptedBuffer)
        self._memory.map(destination)[:] = buffer.content

    def copy_from(self, source: Memory, buffer: DriverBuffer) -> None:
        assert isinstance(buffer, ScriptedBuffer)
        if self.copy_failure is not None:
            raise self.copy_failure
        buffer.content = bytes(self._memory.map(source))

    def free(self, buffer: DriverBuffer) -> None:
        """Nothing to give back."""


class App:
    """An app. Its methods make objects in the state that their name says, and return their handles."""

    def __init__(self, level: Version = NEWEST, devices: Sequence[ScriptedDevice] = ()) -> None:
        self.memory = OwnMemory()
        self.page = self.memory.make(4096)
        self.properties: dict[str, str] = {}
        kept = AppMemory(self.memory)
        self.pools = OwnPools(self.memory, kept)
        self.backend = ScriptedBackend(self.pools, devices or (ScriptedDevice("a"), ScriptedDevice("b", is_cpu=True)))
        extensions = Extensions(self.backend.devices)
        self.environment = Environment(
            level, kept, self.pools, self.backend, self.backend, extensions, lambda name: self.properties.get(name, "")
        )
        self.runtime = ReferenceRuntime(self.environment)

    def at(self, offset: int, data: bytes = b"") -> Pointer:
        """A pointer into a page of the app's memory, with these bytes behind it."""
        self.memory.contents[self.page.token][offset : offset + len(data)] = data
        return Pointer(self.page, offset)

    def model(self, *operands: OperandDescription) -> int:
        """An unfinished model with operands."""
        handle = made(self.runtime.model_create(True))
        for operand in operands:
            succeed(self.runtime.model_add_operand(handle, operand))
        return handle

    def addition(self, operand: OperandDescription = VECTOR, *, finish: bool = True) -> int:
        """A model of one ADD; operands 0 and 1 are its inputs, 3 its output."""
        handle = self.model(operand, operand, ACTIVATION, operand)
        succeed(self.runtime.model_set_operand_value(handle, 2, self.at(0, struct.pack("<i", 0)), 4))
        succeed(self.runtime.model_add_operation(handle, OperationType.ADD, (0, 1, 2), (3,)))
        succeed(self.runtime.model_identify_inputs_and_outputs(handle, (0, 1), (3,)))
        if finish:
            succeed(self.runtime.model_finish(handle))
        return handle

    def compilation(self, operand: OperandDescription = VECTOR, *, devices: int = 0, finish: bool = True) -> int:
        """A compilation of an addition. devices: how many are named, 0 for none."""
        if devices:
            named = tuple(made(self.runtime.get_device(index, True)) for index in range(devices))
            handle = made(self.runtime.compilation_create_for_devices(self.addition(operand), named, True))
        else:
            handle = made(self.runtime.compilation_create(self.addition(operand), True))
        if finish:
            succeed(self.runtime.compilation_finish(handle))
        return handle

    def execution(self, compilation: int = 0, *, arguments: bool = True, reusable: bool = False) -> int:
        """An execution, ready to compute unless arguments is False."""
        handle = made(self.runtime.execution_create(compilation or self.compilation(), True))
        if reusable:
            succeed(self.runtime.execution_set_reusable(handle, True))
        if arguments:
            for index in (0, 1):
                succeed(self.runtime.execution_set_input(handle, index, None, self.at(64 * index), 8))
            succeed(self.runtime.execution_set_output(handle, 0, None, self.at(128), 8))
        return handle

    def described_memory(self, compilation: int, *, is_input: bool) -> int:
        """Memory from a descriptor with one role: the first input or output."""
        desc = made(self.runtime.memory_desc_create(True))
        add: Callable[..., int] = (
            self.runtime.memory_desc_add_input_role if is_input else self.runtime.memory_desc_add_output_role
        )
        succeed(add(desc, compilation, 0, 1.0))
        succeed(self.runtime.memory_desc_finish(desc))
        return made(self.runtime.memory_create_from_desc(desc, True))

    def app_memory(self, size: int) -> int:
        """A memory object over memory of the app."""
        memory = self.memory.make(size)
        return made(self.runtime.memory_create_from_fd(size, 3, memory, 0, True))

    @property
    def plan(self) -> ScriptedPlan:
        """The plan of the newest compilation."""
        return self.backend.plans[-1]


class OwnPools:
    """The runtime's pools over the app's memory."""

    def __init__(self, memory: OwnMemory, kept: AppMemory) -> None:
        self.make, self.free, self.map = memory.make, memory.free, kept.map


def succeed(result: int) -> None:
    """Fail unless a function returned NO_ERROR."""
    assert result == ResultCode.NO_ERROR, ResultCode(result).name


def made(answer: Any) -> int:
    """The handle that a function wrote; fails unless it returned NO_ERROR."""
    succeed(answer.result)
    assert answer.handle > 0
    return int(answer.handle)


def shapes(*dimensions: tuple[int, ...], sufficient: bool = True) -> tuple[OutputShape, ...]:
    """Output shapes of an outcome."""
    return tuple(OutputShape(one, sufficient) for one in dimensions)
