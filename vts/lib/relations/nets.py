"""What relations are written with: small models, one line for each operation, from plain values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from npu_conformance.corpus.model_builder import ModelBuilder
from npu_conformance.corpus.vectors import Graph, Vector, VectorOperand
from npu_conformance.specs.neuralnetworks.enums import OperandType
from npu_conformance.specs.neuralnetworks.extension_codes import AnyOperandType
from npu_conformance.specs.versions import Version

if TYPE_CHECKING:
    from npu_conformance.corpus.vectors import Array

FLOAT32, FLOAT16 = OperandType.TENSOR_FLOAT32, OperandType.TENSOR_FLOAT16
UNSIGNED, SIGNED = OperandType.TENSOR_QUANT8_ASYMM, OperandType.TENSOR_QUANT8_ASYMM_SIGNED
INT32, BOOL8 = OperandType.TENSOR_INT32, OperandType.TENSOR_BOOL8

FLOATS = (FLOAT32, FLOAT16)
BYTES = (UNSIGNED, SIGNED)
MOVED = (*FLOATS, *BYTES)
"""Types of the operations that only move elements, of tensors that are quantized as usual."""
WITH_INTEGERS = (*MOVED, INT32)

QUANTIZATION: dict[int, tuple[float, int]] = {UNSIGNED: (1 / 16, 117), SIGNED: (1 / 16, 117 - 128)}
"""Scale and zero point of tensors that nobody gives others: both forms stand for the same real values."""


@dataclass(frozen=True, eq=False)
class Tensor:
    """An operand with its stored elements."""

    operand: VectorOperand
    array: Array

    @property
    def shape(self) -> tuple[int, ...]:
        """Its dimensions."""
        return self.operand.dimensions

    def of(self, array: Array) -> Tensor:
        """Other elements, perhaps in another shape, of the same type and quantisation."""
        import numpy

        return Tensor(replace(self.operand, dimensions=array.shape), numpy.ascontiguousarray(array))


def like(operand_type: AnyOperandType, scale: float | None = None, zero_point: int | None = None) -> VectorOperand:
    """An operand of a type without its shape; quantised as QUANTIZATION says where nothing else is given."""
    usual = QUANTIZATION.get(operand_type, (0.0, 0))
    return VectorOperand(
        operand_type,
        scale=usual[0] if scale is None else scale,
        zero_point=usual[1] if zero_point is None else zero_point,
    )


class Net:
    """A model under construction. operand_type: of its tensors, where nothing else is said."""

    def __init__(self, operand_type: OperandType, version: Version, referenced: Sequence[Graph] = ()) -> None:
        self.operand_type = operand_type
        self._builder = ModelBuilder(version, referenced)
        self._operation = ""

    def input(self, tensor: Tensor) -> str:
        """Add a model input; returns its name."""
        return self._builder.input(tensor.operand, tensor.array)

    def reference(self, number: int) -> str:
        """Add a reference to a graph; returns its name."""
        return self._builder.reference(number)

    def results(self, operation: str, arguments: Sequence[Any], results: Sequence[VectorOperand]) -> list[str]:
        """Add an operation with several results; returns their names. arguments: see `apply`."""
        names = [self._argument(argument) for argument in arguments]
        self._operation = operation
        return self._builder.apply(operation, names, results)

    def apply(self, operation: str, *arguments: Any, result: VectorOperand | None = None) -> str:
        """Add an operation with one result; returns its name.

        arguments: names of operands, or values that become constants: a Tensor as it is, an int, bool or float as a
        scalar, a tuple as TENSOR_INT32 of rank 1, a list of tuples as rank 2, None and a type as an omitted operand.
        result: by default of type and quantisation of the first argument.
        """
        names = [self._argument(argument) for argument in arguments]
        self._operation = operation
        wanted = result or replace(self._builder.operand(names[0]), dimensions=(), value=None)
        return self._builder.apply(operation, names, [wanted])[0]

    def shape(self, name: str) -> tuple[int, ...]:
        """The dimensions of an operand."""
        return self._builder.operand(name).dimensions

    def operand(self, name: str) -> VectorOperand:
        """An operand as it is so far."""
        return self._builder.operand(name)

    def vector(self, *outputs: str) -> Vector:
        """The model with these outputs, named after its last operation."""
        return self._builder.vector("relation", self._operation, outputs)

    def _argument(self, value: Any) -> str:
        import numpy

        if isinstance(value, str):
            return value
        if isinstance(value, Tensor):
            return self._builder.constant(value.operand, value.array)
        if isinstance(value, VectorOperand):
            return self._builder.omitted(value)
        if isinstance(value, tuple | list):
            array = numpy.array(value, numpy.int32)
            return self._builder.constant(VectorOperand(INT32, array.shape), array)
        return self._scalar(value)

    def _scalar(self, value: bool | int | float) -> str:
        import numpy

        if isinstance(value, bool):
            return self._builder.constant(VectorOperand(OperandType.BOOL), numpy.array(value, numpy.uint8))
        if isinstance(value, int):
            return self._builder.constant(VectorOperand(OperandType.INT32), numpy.array(value, numpy.int32))
        half = self.operand_type is FLOAT16
        operand_type = OperandType.FLOAT16 if half else OperandType.FLOAT32
        return self._builder.constant(
            VectorOperand(operand_type), numpy.array(value, numpy.float16 if half else numpy.float32)
        )
