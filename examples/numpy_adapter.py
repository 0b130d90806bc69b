"""An engine of your own as a driver: numpy with ADD, MUL and TANH. docs/adapters.md walks through it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy

from npu_conformance.adapters.engine import NO_CALLEES, Array, Callees, Engine, EngineError, Run, Shape, engine_plugin
from npu_conformance.specs.neuralnetworks.enums import OperandType, OperationType
from npu_conformance.specs.neuralnetworks.types import Operation, Subgraph

KERNELS = {OperationType.ADD: numpy.add, OperationType.MUL: numpy.multiply, OperationType.TANH: numpy.tanh}
TYPES = {OperandType.TENSOR_FLOAT32, OperandType.TENSOR_FLOAT16, OperandType.TENSOR_INT32}
ACTIVATIONS = {1: (0, numpy.inf), 2: (-1, 1), 3: (0, 6)}  # by FusedActivation; 0 is none


@dataclass(frozen=True)
class NumpyEngine(Engine):
    """Frozen, so that equal engines are equal keys."""

    name = "numpy-npu"
    takes_open_shapes = False  # `lower` refuses types, and would see such models in the execution for the first time

    def version(self) -> str:
        return numpy.__version__

    def has(self, operation_type: int) -> bool:
        return operation_type in KERNELS

    def lower(
        self,
        graph: Subgraph,
        known: Mapping[int, Array],
        shapes: Mapping[int, Shape],
        omitted: frozenset[int] = frozenset(),
        callees: Callees = NO_CALLEES,
    ) -> NumpyGraph:
        found = dict(shapes) | {index: value.shape for index, value in known.items()}
        for operation in graph.operations:
            tensors = operation.inputs[:2]
            if not {graph.operands[index].type for index in (*tensors[:1], *operation.outputs)} <= TYPES:
                raise EngineError("numpy has no quantised kernels here")
            try:
                found[operation.outputs[0]] = numpy.broadcast_shapes(*(found[index] for index in tensors))
            except ValueError as error:  # numpy's word for shapes that do not go together
                raise EngineError(str(error)) from error
        return NumpyGraph(graph, known, found)


@dataclass(frozen=True)
class NumpyGraph:
    """There is nothing to compile: the graph, its constants and its shapes are the lowered form."""

    graph: Subgraph
    known: Mapping[int, Array]
    shapes: Mapping[int, Shape]

    def load(self) -> Run:
        return self.run

    def run(self, inputs: Sequence[Array | None], _: Callable[[], None]) -> list[Array]:
        given = zip(self.graph.input_indexes, inputs, strict=True)
        values = {**self.known, **{index: value for index, value in given if value is not None}}
        for operation in self.graph.operations:
            values[operation.outputs[0]] = compute(operation, values)
        return [values[index] for index in self.graph.output_indexes]


def compute(operation: Operation, values: Mapping[int, Array]) -> Array:
    result: Array = KERNELS[OperationType(operation.type)](*(values[index] for index in operation.inputs[:2]))
    activation = int(values[operation.inputs[2]]) if len(operation.inputs) == 3 else 0
    if activation:
        result = numpy.clip(result, *ACTIVATIONS[activation])
    return result


plugin = engine_plugin(NumpyEngine(), vendor="Example")
