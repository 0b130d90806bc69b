"""What a lowering function gets: one operation with its operands as values, shapes and tensors, and the graph."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from npu_conformance.adapters.litert_runtime import Interpreter, schema
from npu_conformance.adapters.lowering.graph import Graph, Quantization, Routine, Tensor
from npu_conformance.adapters.lowering.operands import LoweringError, graph_dtype, is_known, quantization
from npu_conformance.adapters.lowering.reading import Reading
from npu_conformance.specs.neuralnetworks.types import Operand, Operation

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Call:
    """A referenced graph, lowered for inputs of known shapes. rounds: see Values. shapes: of the graph's outputs."""

    graph: Graph
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    rounds: int
    shapes: tuple[tuple[int, ...], ...]

    def routine(self, outputs: Sequence[int]) -> Routine:
        """The graph as a routine that gives these tensors."""
        return Routine(self.graph, self.inputs, tuple(outputs))


class Values:
    """The operands of a graph while it is lowered: which have a constant value, which already have a tensor.

    rounds: the tensor that holds how many rounds the loops of the model may still make, where it has control flow.
    Every loop takes from it, so that a run in LiteRT, which nothing interrupts, comes to an end.
    """

    def __init__(
        self,
        operands: Sequence[Operand],
        constants: Mapping[int, Array],
        omitted: frozenset[int],
        shapes: Mapping[int, tuple[int, ...]],
        call: Callable[[int, Sequence[tuple[int, ...]]], Call],
        has_unsigned: bool = True,
    ) -> None:
        """constants: stored elements by operand index. omitted: operands without a value. shapes: of model inputs.

        call: lowers the referenced graph of a number for inputs of some shapes. Raises LoweringError.
        has_unsigned: false where the interpreter has no kernels for uint8, so that none may stand in for one for int8.
        """
        self.operands = operands
        self.constants = constants
        self.omitted = omitted
        self.shapes = shapes
        self.call = call
        self.has_unsigned = has_unsigned
        self.rounds: int | None = None
        self.graph = Graph()
        self.inputs: list[int] = []
        self.tensors: dict[int, int] = {}

    def tensor(self, index: int) -> int:
        """Number of the operand's tensor; made now where the operand is a constant."""
        if index not in self.tensors:
            if index not in self.constants:
                raise LoweringError(f"operand {index} has no value")
            operand = self.operands[index]
            data = self.constants[index].astype(graph_dtype(operand))
            self.tensors[index] = self.graph.constant(data, quantization(operand))
        return self.tensors[index]

    def dimensions(self, index: int) -> tuple[int, ...]:
        """Shape of an operand: of its value, as declared, or as LiteRT infers it from the graph so far."""
        if index in self.constants:
            return self.constants[index].shape
        if index in self.shapes:
            return self.shapes[index]
        declared = self.operands[index].dimensions
        return declared if is_known(declared) else self.inferred([self.tensor(index)])[self.tensor(index)]

    def inferred(self, outputs: Sequence[int]) -> list[tuple[int, ...]]:
        """Shapes of all tensors, by LiteRT's shape inference. Raises LiteRtError where it refuses the graph so far."""
        return Interpreter(self.graph.pack(self.inputs, outputs), "reference").shapes(len(self.graph.tensors))


class Step(Reading):
    """One operation being lowered. Positions count its inputs or outputs, from 0."""

    def __init__(self, values: Values, operation: Operation) -> None:
        super().__init__(operation, values.operands, values.constants, values.omitted)
        self.values = values
        self.graph = values.graph

    def dimensions(self, position: int) -> tuple[int, ...]:
        """Shape of an input."""
        return self.values.dimensions(self.operation.inputs[position])

    def tensor(self, position: int) -> int:
        """Number of an input's tensor in the graph."""
        return self.values.tensor(self.operation.inputs[position])

    def kind(self, number: int) -> Tensor:
        """Type and quantisation of a tensor, without shape and value: what a new tensor alike needs."""
        return replace(self.graph.tensors[number], shape=(), data=None, variable=False)

    def like(self, number: int) -> int:
        """A new tensor of the same type and quantisation as another."""
        return self.graph.add(self.kind(number))

    def bind(self, number: int, position: int = 0) -> None:
        """Say which tensor holds the value of an output."""
        self.values.tensors[self.operation.outputs[position]] = number

    def output(self, position: int = 0) -> int:
        """The tensor of an output, made as the operand declares it. Ask for it once for each output."""
        number = self.like_result(position)
        self.bind(number, position)
        return number

    def like_result(self, position: int = 0) -> int:
        """A new tensor of an output's type and quantisation, which does not hold its value yet."""
        operand = self.result(position)
        return self.graph.add(Tensor(graph_dtype(operand), (), quantization(operand)))

    def transposed(self, number: int, permutation: Sequence[int]) -> int:
        """The tensor with its axes in another order."""
        moved = self.like(number)
        self.graph.emit("TRANSPOSE", [number, self.integers(permutation)], moved, "Transpose")
        return moved

    def along_last(self, axis: int, apply: Callable[[int], int]) -> int:
        """Apply an operator of the last axis along another axis of input 0: the two are swapped before and after."""
        rank = len(self.dimensions(0))
        if axis not in range(-rank, rank):
            raise LoweringError(f"axis {axis} of a tensor of rank {rank}")
        swap = list(range(rank))
        swap[axis], swap[-1] = swap[-1], swap[axis]
        if swap == sorted(swap):
            return apply(self.tensor(0))
        return self.transposed(apply(self.transposed(self.tensor(0), swap)), swap)

    def reshaped(self, number: int, dimensions: Sequence[int]) -> int:
        """The tensor's elements in another shape."""
        shaped = self.like(number)
        shape = [int(dimension) for dimension in dimensions]
        self.graph.emit("RESHAPE", [number, self.integers(shape)], shaped, "Reshape", newShape=shape)
        return shaped

    def integers(self, values: Sequence[int] | Array) -> int:
        """A constant int32 tensor holding shape, axes or the like."""
        return self.graph.constant(np.asarray(values, np.int32))

    def floats(self, values: Sequence[float]) -> int:
        """A constant of float32."""
        return self.graph.constant(np.array(values, np.float32))

    def sliced(self, number: int, begin: Sequence[int], size: Sequence[int]) -> int:
        """A part of a tensor."""
        part = self.like(number)
        self.graph.emit("SLICE", [number, self.integers(begin), self.integers(size)], part, "Slice")
        return part

    def requantized(self, number: int, target: Quantization | None, dtype: str | None = None) -> int:
        """The tensor in another quantisation and element type: itself where nothing changes, else through QUANTIZE."""
        tensor = self.graph.tensors[number]
        wanted = dtype or tensor.dtype
        if tensor.quantization == target and tensor.dtype == wanted:
            return number
        changed = self.graph.add(Tensor(wanted, (), target))
        self.graph.emit("QUANTIZE", [number], changed, "Quantize")
        return changed

    def dequantized(self, number: int) -> int:
        """The tensor's real values as float32: itself where it is not quantised."""
        if self.graph.tensors[number].quantization is None:
            return number
        values = self.graph.add(Tensor("float32"))
        self.graph.emit("DEQUANTIZE", [number], values, "Dequantize")
        return values

    def cast(self, number: int, dtype: str) -> int:
        """The tensor's stored elements as another type."""
        types, changed = schema().TensorType, self.graph.add(Tensor(dtype))
        source = getattr(types, self.graph.tensors[number].dtype.upper())
        target = getattr(types, dtype.upper())
        self.graph.emit("CAST", [number], changed, "Cast", inDataType=source, outDataType=target)
        return changed


Lower = Callable[[Step], None]
"""A lowering function: emits the operation's equivalent, or raises LoweringError."""
