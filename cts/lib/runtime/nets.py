"""Small models of several operations, over float32 matrices of whole numbers: their sums and products are exact."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from msgspec.structs import replace

from npu_conformance.corpus.model_builder import ModelBuilder
from npu_conformance.corpus.vector_types import Graph, Vector, VectorOperand
from npu_conformance.corpus.wire_model import build_model
from npu_conformance.specs.neuralnetworks import types
from npu_conformance.specs.neuralnetworks.enums import OperandType
from npu_conformance.specs.versions import NEWEST

if TYPE_CHECKING:
    from npu_conformance.corpus.vector_types import Array

SQUARE = (2, 2)
MATRIX = VectorOperand(OperandType.TENSOR_FLOAT32, SQUARE)


@dataclass(frozen=True)
class Net:
    """A model to compile: wire, as the app builds it, and the vector that knows names, inputs and expected values."""

    vector: Vector
    wire: types.Model

    @property
    def inputs(self) -> Mapping[str, Array]:
        """The arrays of the model's inputs."""
        return self.vector.examples[0].inputs

    @property
    def is_open(self) -> bool:
        """True where a size is known in the execution alone."""
        return any(operand.is_open for operand in self.vector.operands.values())

    def expected(self) -> dict[str, Array]:
        """What the oracles find for the outputs."""
        return self.expected_of(self.inputs)

    def expected_of(self, inputs: Mapping[str, Array]) -> dict[str, Array]:
        """What the oracles find for the outputs of other inputs."""
        from npu_conformance.corpus import oracles

        return oracles.evaluate(self.vector.main, inputs, self.vector.referenced)


class NetBuilder:
    """Grows a model. Operands are named; sizes of results follow from the rules of the operations."""

    def __init__(self, referenced: Sequence[Graph] = ()) -> None:
        """referenced: the graphs that IF and WHILE refer to by their numbers."""
        self.builder = ModelBuilder(NEWEST, referenced)
        self._inputs = 0

    def input(self, operand: VectorOperand = MATRIX, shape: tuple[int, ...] = ()) -> str:
        """A model input of whole numbers from 1 on. shape: of the array, where the operand leaves it open."""
        self._inputs += 1
        return self.builder.input(operand, numbers(operand.type, shape or operand.dimensions, self._inputs))

    def constant(self, operand: VectorOperand = MATRIX, first: int = 1) -> str:
        """A constant of whole numbers."""
        return self.builder.constant(operand, numbers(operand.type, operand.dimensions, first))

    def scalar(self, value: float, kind: OperandType = OperandType.INT32) -> str:
        """A constant scalar."""
        import numpy

        from npu_conformance.specs.neuralnetworks.operand_types import OPERAND_TYPES

        return self.builder.constant(VectorOperand(kind), numpy.array(value, OPERAND_TYPES[kind].dtype))

    def ints(self, *values: int) -> str:
        """A constant vector of int32."""
        import numpy

        operand = VectorOperand(OperandType.TENSOR_INT32, (len(values),))
        return self.builder.constant(operand, numpy.array(values, numpy.int32))

    def apply(self, operation: str, *arguments: str, result: VectorOperand = MATRIX) -> str:
        """Add an operation with one result."""
        return self.builder.apply(operation, arguments, [replace(result, dimensions=())])[0]

    def binary(self, operation: str, first: str, second: str, activation: int = 0) -> str:
        """Add an ADD, MUL or SUB, or another operation of two matrices and a FusedActivation."""
        kind = self.builder.operand(first)
        return self.apply(operation, first, second, self.scalar(activation), result=replace(kind, value=None))

    def net(self, *outputs: str, relaxed: bool = False) -> Net:
        """The model, with these outputs."""
        return net_of(replace(self.builder.vector("net", "ADD", outputs), relaxed=relaxed))

    def graph(self, *outputs: str) -> Graph:
        """The model as a graph to refer to."""
        return self.builder.vector("graph", "ADD", outputs).main


def net_of(vector: Vector) -> Net:
    """The net of a vector."""
    return Net(vector, build_model(vector, NEWEST).model)


def numbers(kind: int, shape: Sequence[int], first: int = 1) -> Array:
    """Whole numbers from `first` on, in turn with their negatives where the type has them."""
    import numpy

    from npu_conformance.specs.neuralnetworks.operand_types import OPERAND_TYPES

    count = int(numpy.prod(shape)) if shape else 1
    dtype = numpy.dtype(OPERAND_TYPES[OperandType(kind)].dtype)
    found = numpy.arange(first, first + count) % 7
    if dtype.kind != "u" and dtype.kind != "b":
        found = numpy.where(numpy.arange(count) % 2, -found, found)
    return found.astype(dtype).reshape(shape)


def chain(*operations: str | tuple[str, int]) -> Net:
    """A chain of binary operations: each takes the one before and the second input. (name, activation), or a name."""
    builder = NetBuilder()
    last, second = builder.input(), builder.input()
    for operation in operations:
        name, activation = (operation, 0) if isinstance(operation, str) else operation
        last = builder.binary(name, last, second, activation)
    return builder.net(last)


def open_chain(*operations: str) -> Net:
    """A chain whose output has rows that the model does not count."""
    vector = chain(*operations).vector
    (output,) = vector.outputs
    opened = replace(vector.operands[output], dimensions=(0, *SQUARE[1:]))
    return net_of(replace(vector, operands={**vector.operands, output: opened}))


def add() -> Net:
    """One ADD."""
    return chain("ADD")
