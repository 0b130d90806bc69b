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
from npu_conformance.harness.nnapi.executions import MemoryObjects, overriding, set_arguments
from npu_conformance.harness.subject.pools import Pool
from npu_conformance.specs.neuralnetworks.runtime.types import Pointer
from npu_conformance.specs.neuralnetworks.types import Model, RequestArgument, RequestMemoryPool


class Arguments:
    """The arguments of one request in two pools, given by pointers, or by memory objects of the pools."""

    def __init__(self, app: RuntimeApp, model: Model, built: BuiltRequest, *, by_objects: bool = False) -> None:
        self._app, self._model, self._built = app, model, built
        self._inputs = app.context.pool(len(built.input_data) or 1)
        self._outputs = app.context.pool(built.output_size)
        self._inputs.write(0, built.input_data)
        pools = (self._inputs, self._outputs)
        self._request = built.request(*(RequestMemoryPool(pool=pool.memory) for pool in pools))
        handles = {pool.memory.token: object_of(app, pool) for pool in pools} if by_objects else {}
        self._objects = MemoryObjects(app.runtime, handles) if by_objects else None

    def set(self, execution: int) -> None:
        """Set all inputs and outputs of an execution. Raises CallError."""
        set_arguments(self._app.runtime, execution, self._model, self._request, self._objects)

    def clear(self) -> None:
        """Fill the outputs with what no execution leaves there."""
        self._outputs.write(0, bytes([FILL]) * self._built.output_size)

    def collect(self) -> bytes:
        """The bytes of the pool of outputs."""
        return self._outputs.read(0, self._built.output_size)

    def inputs_are_unchanged(self) -> bool:
        """True where the inputs are as they were."""
        return self._inputs.read(0, len(self._built.input_data)) == self._built.input_data


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
        self._inputs_of: dict[int, _Described] = {}
        self._outputs_of: dict[int, _Described] = {}
        for index, name in enumerate(built.vector.inputs):
            shape = example.inputs[name].shape if built.vector.operands[name].is_open and name in example.inputs else ()
            self._allocate(self._inputs_of, "input", index, built.inputs.get(name), shape)
        for index, name in enumerate(built.vector.outputs):
            if not built.vector.operands[name].is_open:
                self._allocate(self._outputs_of, "output", index, built.outputs[name])
        if not self._inputs_of and not self._outputs_of:
            raise NotApplicable("no input or output can be in memory from a descriptor")
        for made in self._inputs_of.values():
            made.pool.write(0, built.input_data[made.region.offset : made.region.offset + made.region.length])
            app.succeed("memory_copy", made.copy, made.handle)

    def _allocate(
        self, into: dict[int, _Described], kind: str, index: int, region: Region | None, shape: tuple[int, ...] = ()
    ) -> None:
        if region is None or not region.length:
            return
        handle = described(self._app, [Role(kind, each, index) for each in self._compilations], shape)
        if handle is not None:
            pool = self._app.context.pool(region.length)
            into[index] = _Described(handle, object_of(self._app, pool), pool, region)

    def set(self, execution: int) -> None:
        """Set all inputs and outputs of an execution."""
        main = self._model.main
        for index, argument in enumerate(self._request.inputs):
            self._set(execution, "input", index, main.input_indexes[index], argument, self._inputs_of.get(index))
        for index, argument in enumerate(self._request.outputs):
            self._set(execution, "output", index, main.output_indexes[index], argument, self._outputs_of.get(index))

    def _set(
        self, execution: int, kind: str, index: int, operand: int, argument: RequestArgument, made: _Described | None
    ) -> None:
        type_ = overriding(self._model.main.operands[operand], argument)
        if made is not None:
            self._app.succeed(f"execution_set_{kind}_from_memory", execution, index, type_, made.handle, 0, 0)
        elif argument.has_no_value:
            self._app.succeed(f"execution_set_{kind}", execution, index, type_, None, 0)
        else:
            place = argument.location
            pool = (self._inputs, self._outputs)[place.pool_index]
            pointer = Pointer(pool.memory, place.offset)
            self._app.succeed(f"execution_set_{kind}", execution, index, type_, pointer, place.length)

    def collect(self) -> bytes:
        """Copy what is in memories from descriptors to the pool of outputs; returns its bytes."""
        for made in self._outputs_of.values():
            self._app.succeed("memory_copy", made.handle, made.copy)
            self._outputs.write(made.region.offset, made.pool.read(0, made.region.length))
        return super().collect()
