"""Where the arguments of a vector lie: behind pointers, in memory objects, or in memory from descriptors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from npu_conformance.corpus.vectors import Example
from npu_conformance.corpus.wire_model import BuiltRequest, Region
from npu_conformance.cts.lib.runtime.fixture import RuntimeApp
from npu_conformance.cts.lib.runtime.memories import Role, described, object_of
from npu_conformance.harness.judge.outputs import FILL
from npu_conformance.harness.judge.verdicts import NotApplicable
from npu_conformance.harness.nnapi.caller_memory import place
from npu_conformance.harness.nnapi.errors import require
from npu_conformance.harness.nnapi.executions import overriding
from npu_conformance.harness.subject.pools import Pool
from npu_conformance.harness.wire.binding import MethodCall
from npu_conformance.specs.neuralnetworks.runtime.types import OperandDescription, Pointer
from npu_conformance.specs.neuralnetworks.types import Model, RequestArgument, RequestMemoryPool


class Arguments:
    """The arguments of one request, behind pointers into the app's memory, or by memory objects of it."""

    def __init__(self, app: RuntimeApp, model: Model, built: BuiltRequest, *, by_objects: bool = False) -> None:
        self._app, self._model, self._built = app, model, built
        self._inputs = place(app.memory, built.input_data)
        self._outputs = app.memory.room(built.output_size)
        self._by_objects = by_objects
        self._objects: dict[int, int] = {}
        pools = (RequestMemoryPool(pool=pointer.memory) for pointer in (self._inputs, self._outputs))
        self._request = built.request(*pools)

    def set(self, execution: int, *before: MethodCall) -> None:
        """Set all inputs and outputs of an execution, behind other calls. Raises CallError."""
        main, request = self._model.main, self._request
        sides = (("input", request.inputs, main.input_indexes), ("output", request.outputs, main.output_indexes))
        calls = (
            self._setting(execution, role, index, overriding(main.operands[indexes[index]], argument), argument)
            for role, arguments, indexes in sides
            for index, argument in enumerate(arguments)
        )
        for function, result in self._app.call_each((*before, *calls)):
            require(function, result)

    def _setting(
        self, execution: int, role: str, index: int, type_: OperandDescription | None, argument: RequestArgument
    ) -> MethodCall:
        """The call that sets an argument."""
        function, length = f"execution_set_{role}", argument.location.length
        if argument.has_no_value:
            return function, (execution, index, type_, None, 0)
        pointer = self._pointer(role, argument)
        if self._by_objects:
            handle = self._object_of(pointer)
            return f"{function}_from_memory", (execution, index, type_, handle, pointer.offset, length)
        return function, (execution, index, type_, pointer, length)

    def _pointer(self, role: str, argument: RequestArgument) -> Pointer:
        base = self._inputs if role == "input" else self._outputs
        return Pointer(base.memory, base.offset + argument.location.offset)

    def _object_of(self, pointer: Pointer) -> int:
        token = pointer.memory.token
        if token not in self._objects:
            self._objects[token] = object_of(self._app, pointer.memory)
        return self._objects[token]

    def clear(self) -> None:
        """Fill the outputs with what no execution leaves there."""
        self._app.memory.write(self._outputs, bytes([FILL]) * self._built.output_size)

    def collect(self) -> bytes:
        """The bytes of the outputs."""
        return self._app.memory.read(self._outputs, self._built.output_size)

    def inputs_are_unchanged(self) -> bool:
        """True where the inputs are as they were."""
        return self._app.memory.read(self._inputs, len(self._built.input_data)) == self._built.input_data


@dataclass(frozen=True, slots=True)
class _Described:
    """Memory from a descriptor for one argument, and a memory object of its size through which it is copied."""

    handle: int
    copy: int
    pool: Pool
    region: Region


class DescribedArguments(Arguments):
    """Every input and output in memory from a descriptor, as AOSP's DeviceMemoryTest has them.

    What the runtime declines to allocate, what is omitted and what has no elements stays behind pointers.
    compilations: in which each memory is used. NotApplicable where nothing is left.
    """

    def __init__(
        self, app: RuntimeApp, model: Model, built: BuiltRequest, example: Example, compilations: Sequence[int]
    ) -> None:
        super().__init__(app, model, built)
        self._compilations = compilations
        self._described: dict[tuple[str, int], _Described] = {}
        vector = built.vector
        for index, name in enumerate(vector.inputs):
            shape = example.inputs[name].shape if vector.operands[name].is_open and name in example.inputs else ()
            self._allocate("input", index, built.inputs.get(name), shape)
        for index, name in enumerate(vector.outputs):
            if not vector.operands[name].is_open:
                self._allocate("output", index, built.outputs[name])
        if not self._described:
            raise NotApplicable("no input or output can be in memory from a descriptor")
        inputs = (made for (role, _), made in self._described.items() if role == "input")
        app.succeed_each([("memory_copy", (made.copy, made.handle)) for made in inputs])

    def _allocate(self, role: str, index: int, region: Region | None, shape: tuple[int, ...] = ()) -> None:
        if region is None or not region.length:
            return
        handle = described(self._app, [Role(role, each, index) for each in self._compilations], shape)
        if handle is None:
            return
        pool = self._app.context.pool(region.length)
        self._described[role, index] = _Described(handle, object_of(self._app, pool.memory), pool, region)
        if role == "input":
            pool.write(0, self._built.input_data[region.offset : region.offset + region.length])

    def _setting(
        self, execution: int, role: str, index: int, type_: OperandDescription | None, argument: RequestArgument
    ) -> MethodCall:
        made = self._described.get((role, index))
        if made is None:
            return super()._setting(execution, role, index, type_, argument)
        return f"execution_set_{role}_from_memory", (execution, index, type_, made.handle, 0, 0)

    def collect(self) -> bytes:
        """Copy what is in memories from descriptors to where the outputs are; returns the bytes of these."""
        outputs = [made for (role, _), made in self._described.items() if role == "output"]
        self._app.succeed_each([("memory_copy", (made.handle, made.copy)) for made in outputs])
        for made in outputs:
            target = Pointer(self._outputs.memory, self._outputs.offset + made.region.offset)
            self._app.memory.write(target, made.pool.read(0, made.region.length))
        return super().collect()
