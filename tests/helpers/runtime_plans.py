"""Plans of the reference runtime in tests: small graphs, scripted drivers, and values in and out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy
from reference_driver import Clock, LocalMemory

from npu_conformance.reference.runtime.backend import (
    Argument,
    CompileOptions,
    ExecutionOptions,
    FinishedModel,
    Outcome,
    Plan,
    PlanBurst,
    RuntimeDevice,
)
from npu_conformance.reference.runtime.planning.compiler import ReferenceCompiler
from npu_conformance.reference.runtime.planning.local_files import LocalFiles
from npu_conformance.reference.runtime.planning.plan import ReferencePlan
from npu_conformance.reference.runtime.planning.pools import LocalPools
from npu_conformance.reference.runtime.planning.properties import Properties
from npu_conformance.reference.runtime.scripted.device import scripted_service
from npu_conformance.reference.runtime.scripted.service import ScriptedService
from npu_conformance.specs.neuralnetworks import types
from npu_conformance.specs.neuralnetworks.enums import OperandLifeTime, OperandType, OperationType
from npu_conformance.specs.neuralnetworks.operand_types import OPERAND_TYPES
from npu_conformance.specs.neuralnetworks.runtime.control import DriverScript, SupportedOperation
from npu_conformance.specs.plugin import Caller, Context, NoFiles
from npu_conformance.specs.versions import NEWEST, Version

SHAPE = (2, 3)
Array = numpy.ndarray[Any, Any]


@dataclass
class Graph:
    """A graph under construction; each method returns the index of the operand that it adds. values: of constants."""

    values: bytearray = field(default_factory=bytearray)
    operands: list[types.Operand] = field(default_factory=list)
    operations: list[types.Operation] = field(default_factory=list)
    inputs: list[int] = field(default_factory=list)
    outputs: list[int] = field(default_factory=list)

    def operand(
        self, lifetime: int, shape: tuple[int, ...] = SHAPE, kind: int = OperandType.TENSOR_FLOAT32, **rest: Any
    ) -> int:
        self.operands.append(types.Operand(kind, shape, lifetime=lifetime, **rest))
        return len(self.operands) - 1

    def input(self, shape: tuple[int, ...] = SHAPE, kind: int = OperandType.TENSOR_FLOAT32) -> int:
        self.inputs.append(self.operand(OperandLifeTime.SUBGRAPH_INPUT, shape, kind))
        return self.inputs[-1]

    def constant(self, value: Array, kind: int) -> int:
        shape = value.shape if OPERAND_TYPES[kind].is_tensor else ()
        location = types.DataLocation(0, len(self.values), value.nbytes)
        self.values += value.tobytes()
        return self.operand(OperandLifeTime.CONSTANT_COPY, shape, kind, location=location)

    def activation(self, code: int = 0) -> int:
        return self.constant(numpy.array(code, "int32"), OperandType.INT32)

    def tensor(self, *numbers: float) -> int:
        return self.constant(numpy.resize(numpy.array(numbers, "float32"), SHAPE), OperandType.TENSOR_FLOAT32)

    def graph(self, number: int) -> int:
        return self.operand(
            OperandLifeTime.SUBGRAPH, (), OperandType.SUBGRAPH, location=types.DataLocation(0, number, 0)
        )

    def add(
        self,
        kind: int,
        *inputs: int,
        is_output: bool = False,
        shape: tuple[int, ...] = SHAPE,
        type: int = OperandType.TENSOR_FLOAT32,
    ) -> int:
        lifetime = OperandLifeTime.SUBGRAPH_OUTPUT if is_output else OperandLifeTime.TEMPORARY_VARIABLE
        output = self.operand(lifetime, shape, type)
        self.operations.append(types.Operation(kind, tuple(inputs), (output,)))
        if is_output:
            self.outputs.append(output)
        return output

    def built(self) -> types.Subgraph:
        return types.Subgraph(tuple(self.operands), tuple(self.operations), tuple(self.inputs), tuple(self.outputs))

    def model(self, *referenced: Graph) -> types.Model:
        """The model; referenced graphs share `values` with this one."""
        return types.Model(self.built(), tuple(one.built() for one in referenced), bytes(self.values))

    def inner(self) -> Graph:
        """Begin a graph that this one can refer to."""
        return Graph(self.values)


def chain(*operations: int) -> types.Model:
    """A chain of operations of one input each, or of ADD, MUL and SUB with a constant."""
    graph = Graph()
    value = graph.input()
    for place, kind in enumerate(operations):
        rest = (
            (graph.tensor(1, 2, 3), graph.activation())
            if kind in (OperationType.ADD, OperationType.MUL, OperationType.SUB)
            else ()
        )
        value = graph.add(kind, value, *rest, is_output=place == len(operations) - 1)
    return graph.model()


def supporting(*operations: int) -> tuple[SupportedOperation, ...]:
    """What a script says to support these."""
    return tuple(SupportedOperation(operation) for operation in operations)


class Planning:
    """A compiler with scripted drivers, in memory of this process."""

    def __init__(self, *scripts: DriverScript, feature_level: Version = NEWEST) -> None:
        self.memory, self.clock = LocalMemory(), Clock()
        self.pools, self.files, self.properties = LocalPools(self.memory), LocalFiles(NoFiles()), Properties()
        self.compiler = ReferenceCompiler(self.pools, self.files, self.clock, self.properties, feature_level)
        context = Context(self.pools, lambda: Caller(0, 0), {}, self.clock, files=self.files)
        self.services: dict[str, ScriptedService] = {
            script.name: scripted_service(script, context) for script in scripts
        }
        self.compiler.set_services(tuple(self.services.values()))

    def device(self, name: str) -> RuntimeDevice:
        return next(device for device in self.compiler.devices if device.name == name)

    def compile(self, model: types.Model, *explicit: str, **options: Any) -> ReferencePlan:
        """Compile for all devices, or for the named ones alone."""
        devices = [self.device(name) for name in explicit] or self.compiler.devices
        order = tuple(range(len(model.main.operations)))
        plan: Plan = self.compiler.compile(
            FinishedModel(model, order), devices, CompileOptions(bool(explicit), **options)
        )
        assert isinstance(plan, ReferencePlan)
        return plan

    def place(self, value: Array) -> Argument:
        """An input."""
        return Argument(value.shape, self.memory.create(value.tobytes(), prot=1), 0, value.nbytes)

    def room(self, shape: tuple[int, ...], size: int, declared: tuple[int, ...] | None = None) -> Argument:
        """An output. declared: what the app says of its shape."""
        return Argument(shape if declared is None else declared, self.memory.create(bytes(size)), 0, size)

    def read(self, place: Argument, shape: tuple[int, ...], dtype: str = "float32") -> Array:
        assert place.memory is not None
        count = int(numpy.prod(shape))
        return numpy.frombuffer(self.pools.map(place.memory), dtype, count, place.offset).reshape(shape)

    def run(
        self, plan: Plan, inputs: Sequence[Array], outputs: int = 1, burst: PlanBurst | None = None, **options: Any
    ) -> tuple[Outcome, list[Array]]:
        """Execute with outputs of SHAPE; returns the outcome and their values."""
        places = [self.room(SHAPE, 24) for _ in range(outputs)]
        outcome = plan.execute([self.place(one) for one in inputs], places, ExecutionOptions(**options), burst)
        return outcome, [self.read(one, SHAPE) for one in places]

    def asked(self, driver: str, *methods: str) -> list[str]:
        """The methods that a driver was asked, in order; only these where any are named."""
        names = [call.method for call in self.services[driver].calls]
        return [name for name in names if not methods or name in methods]


def numbers(first: float = 1) -> Array:
    """An input of SHAPE: first, first + 1, ..."""
    return (numpy.arange(6, dtype="float32") + numpy.float32(first)).reshape(SHAPE)
