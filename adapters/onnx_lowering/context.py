"""What a lowering function to ONNX gets: one operation, its inputs as stored or as real values, and the graph.

Quantised operations are computed on real values: DequantizeLinear in front, float32 inside, QuantizeLinear behind.
float16 is computed as float32 and rounded after each operation.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from npu_conformance.adapters.engine_interface import Shape
from npu_conformance.adapters.lowering.operands import LoweringError, is_known, quantization, storage_dtype
from npu_conformance.adapters.lowering.reading import Reading
from npu_conformance.adapters.onnx_lowering.graph import Graph, onnx
from npu_conformance.specs.neuralnetworks.enums import FusedActivation, OperandType
from npu_conformance.specs.neuralnetworks.types import Operand, Operation

Array = npt.NDArray[Any]

FARTHEST = 2**31 - 1
"""Beyond every axis: ONNX cuts a slice's bounds off at the ends."""

BOUNDS: dict[int, tuple[float, float | None]] = {
    FusedActivation.RELU: (0, None),
    FusedActivation.RELU1: (-1, 1),
    FusedActivation.RELU6: (0, 6),
}
"""Lowest and highest result of each fused activation; None for none."""


class Values:
    """The operands of a graph while it is lowered: which have a constant value, which already have a name."""

    def __init__(
        self,
        operands: Sequence[Operand],
        constants: Mapping[int, Array],
        omitted: frozenset[int],
        shapes: Mapping[int, Shape],
    ) -> None:
        """constants: stored elements by operand index. omitted: operands without a value. shapes: of model inputs."""
        self.operands = operands
        self.constants = constants
        self.omitted = omitted
        self.given = shapes
        self.graph = Graph()
        self.names: dict[int, str] = {}

    def name(self, index: int) -> str:
        """Name of the operand's stored elements; made now where the operand is a constant."""
        if index not in self.names:
            if index not in self.constants:
                raise LoweringError(f"operand {index} has no value")
            self.names[index] = self.graph.constant(self.constants[index])
        return self.names[index]

    def dimensions(self, index: int) -> Shape:
        """Shape of an operand: of its value, as declared, or as ONNX infers it."""
        if index in self.constants:
            return self.constants[index].shape
        if index in self.given:
            return self.given[index]
        declared = self.operands[index].dimensions
        found = declared if is_known(declared) else self.graph.shapes().get(self.name(index))
        if found is None:
            raise LoweringError(f"ONNX does not infer the shape of operand {index}")
        return found


class Step(Reading):
    """One operation being lowered. Positions count its inputs or outputs, from 0."""

    def __init__(self, values: Values, operation: Operation) -> None:
        super().__init__(operation, values.operands, values.constants, values.omitted)
        self.values = values
        self.graph = values.graph

    def dimensions(self, position: int) -> Shape:
        """Shape of an input."""
        return self.values.dimensions(self.operation.inputs[position])

    def emit(self, operator: str, *inputs: str, **attributes: Any) -> str:
        """Append a node of one output and return its name."""
        (name,) = self.graph.emit(operator, inputs, **attributes)
        return name

    def stored(self, position: int) -> str:
        """The stored elements of an input."""
        return self.values.name(self.operation.inputs[position])

    def real(self, position: int) -> str:
        """The values of an input: float32 for what is a real number, bool for BOOL8, else int32."""
        return self._real(self.operand(position), self.stored(position))

    def unscaled(self, position: int, scales: Array) -> str:
        """The real values of an int32 input, given its scales: one for each index of its only axis."""
        return self.emit("DequantizeLinear", self.stored(position), self.graph.constant(scales), axis=0)

    def _real(self, operand: Operand, name: str) -> str:
        if operand.type == OperandType.TENSOR_BOOL8:
            return self.cast(name, np.bool_)
        if operand.type == OperandType.TENSOR_FLOAT16:
            return self.cast(name, np.float32)
        found = quantization(operand)
        if found is None:
            return name
        is_single = operand.extra_params is None or operand.extra_params.channel_quant is None
        scales, points = (np.array(found.scales, np.float32), np.array(found.zero_points, storage_dtype(operand)))
        given = [self.graph.constant(part.reshape(()) if is_single else part) for part in (scales, points)]
        return self.emit("DequantizeLinear", name, *given, axis=0 if is_single else found.axis)

    def store(self, name: str, position: int = 0) -> None:
        """Say which values an output has; they are rounded to its type."""
        operand = self.result(position)
        if operand.type in (OperandType.TENSOR_BOOL8, OperandType.TENSOR_FLOAT16):
            name = self.cast(name, storage_dtype(operand))
        found = quantization(operand)
        if found is not None:
            scale = self.graph.constant(np.array(found.scales[0], np.float32))
            point = self.graph.constant(np.array(found.zero_points[0], storage_dtype(operand)))
            name = self.emit("QuantizeLinear", name, scale, point)
        self.bind(name, position)

    def bind(self, name: str, position: int = 0) -> None:
        """Say which value holds the stored elements of an output."""
        self.values.names[self.operation.outputs[position]] = name

    def cast(self, name: str, dtype: npt.DTypeLike) -> str:
        """The value as another element type."""
        return self.emit("Cast", name, to=onnx("helper").np_dtype_to_tensor_dtype(np.dtype(dtype)))

    def integers(self, values: Sequence[int] | Array) -> str:
        """A constant holding shape, axes or the like."""
        return self.graph.constant(np.array(values, np.int64))

    def number(self, value: float, dtype: npt.DTypeLike = np.float32) -> str:
        """A constant of rank 0; of one that an integer type cannot hold the lowest bits, as in LiteRT."""
        return self.graph.constant(np.array(value).astype(dtype))

    def transposed(self, name: str, permutation: Sequence[int]) -> str:
        """The value with its axes in another order."""
        return self.emit("Transpose", name, perm=list(permutation))

    def reshaped(self, name: str, dimensions: Sequence[int]) -> str:
        """The value's elements in another shape."""
        return self.emit("Reshape", name, self.integers(dimensions), allowzero=int(0 in dimensions))

    def activated(self, name: str, activation: int, dtype: npt.DTypeLike = np.float32) -> str:
        """The value after a fused activation, by its code."""
        if activation not in BOUNDS:
            return name
        return self.clipped(name, *BOUNDS[activation], dtype)

    def clipped(self, name: str, low: float, high: float | None, dtype: npt.DTypeLike = np.float32) -> str:
        """The value kept between two bounds; None: open."""
        bounds = ["" if bound is None else self.number(bound, dtype) for bound in (low, high)]
        return self.emit("Clip", name, *bounds)


Lower = Callable[[Step], None]
"""A lowering function: emits the operation's equivalent, or raises LoweringError."""
