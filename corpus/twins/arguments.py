"""Twins that differ in the arguments: their order, their types, which are given, and what is done with them."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

from msgspec.structs import replace

from npu_conformance.corpus import nearly_alike, turns
from npu_conformance.corpus.twins.constants import OF_BOXES
from npu_conformance.corpus.vectors import Example, Vector, VectorHeader, VectorOperand
from npu_conformance.specs.neuralnetworks.enums import OperandType
from npu_conformance.specs.neuralnetworks.operand_types import OPERAND_TYPES
from npu_conformance.specs.versions import Version

if TYPE_CHECKING:
    from npu_conformance.corpus.vectors import Array

_OTHER = {
    "type_of_8_bits": nearly_alike.ASYMMETRIC,
    "type_of_32_bits": (OperandType.TENSOR_FLOAT32, OperandType.TENSOR_INT32),
}
"""Types whose elements have as many bytes."""
_OF_ONE_TYPE = {"DIV", "PAD_V2"}
"""Operations that have no result for some integers, and with a scalar that holds an element of the type."""
_SCALE = 0.5
"""Of an output that becomes quantised."""
_FAMILIES = (
    ("ABS", "EXP", "FLOOR", "HARD_SWISH", "LOG", "LOGISTIC", "NEG", "RELU", "RELU1", "RELU6", "RSQRT", "SIN", "SQRT",
     "TANH"),
    ("ADD", "DIV", "MUL", "SUB"), ("MAXIMUM", "MINIMUM", "POW", "PRELU"), ("LOGICAL_AND", "LOGICAL_OR"),
    ("EQUAL", "GREATER", "GREATER_EQUAL", "LESS", "LESS_EQUAL", "NOT_EQUAL"),
    ("AVERAGE_POOL_2D", "L2_POOL_2D", "MAX_POOL_2D"), ("CONV_2D", "TRANSPOSE_CONV_2D"), ("ROI_ALIGN", "ROI_POOLING"),
    ("ARGMAX", "ARGMIN"), ("ELU", "LOG_SOFTMAX", "SOFTMAX"), ("REDUCE_ALL", "REDUCE_ANY"),
    ("REDUCE_MAX", "REDUCE_MIN", "REDUCE_PROD", "REDUCE_SUM"), ("CAST", "DEQUANTIZE", "QUANTIZE"),
    ("DEPTH_TO_SPACE", "SPACE_TO_DEPTH"), ("RESIZE_BILINEAR", "RESIZE_NEAREST_NEIGHBOR"),
)  # fmt: skip
"""Operations that take the same arguments, at least of some types."""


def orders(vector: Vector, _version: Version) -> Iterator[tuple[str, Vector]]:
    """The arguments of the model turned around, and two arguments of the operation of one form exchanged."""
    for turned in nearly_alike.turned(vector):
        yield "order_of_outputs" if turned.inputs == vector.inputs else "order_of_inputs", turned
    if vector.operation in OF_BOXES:
        return
    operation, *others = vector.operations
    for first, second in itertools.pairwise(operation.inputs):
        if vector.operands[first].dimensions and _form(vector.operands[first]) == _form(vector.operands[second]):
            swapped = {first: second, second: first}
            inputs = tuple(swapped.get(name, name) for name in operation.inputs)
            yield f"{first}_for_{second}", replace(vector, operations=(replace(operation, inputs=inputs), *others))


def _form(operand: VectorOperand) -> tuple[object, ...]:
    return operand.type, operand.dimensions, operand.scale, operand.zero_point, operand.omitted


def omissions(vector: Vector, version: Version) -> Iterator[tuple[str, Vector]]:
    """The model leaves out what another vector of the operation does."""
    headers = turns.legal_headers(vector.operation, version)
    sets = [{name for name, one in header.operands.items() if one.role == "omitted"} for header in headers]
    for names in dict.fromkeys(tuple(sorted(one)) for one in sets if one):
        if set(names) <= vector.operands.keys() and not any(vector.operands[name].omitted for name in names):
            yield f"omitted_{names[0]}", _without(vector, names)


def _without(vector: Vector, names: Collection[str]) -> Vector:
    left_out = {name: replace(vector.operands[name].with_value(None), omitted=True) for name in names}
    inputs = tuple(name for name in vector.inputs if name not in names)
    return replace(vector, operands={**vector.operands, **left_out}, inputs=inputs)


def other_operations(vector: Vector, _version: Version) -> Iterator[tuple[str, Vector]]:
    """Another operation of the same arguments: each pair of operations is met at one of them."""
    operation, *others = vector.operations
    for name in next((names for names in _FAMILIES if operation.type in names), ()):
        if name > operation.type:
            yield f"operation_{name}", replace(vector, operations=(replace(operation, type=name), *others))


def _kinds(header: VectorHeader) -> list[str]:
    return [header.operands[name].type for name in header.arguments]


def types(vector: Vector, version: Version) -> Iterator[tuple[str, Vector]]:
    """Other types of as many bytes, and another type of an output alone."""
    for title, (one, other) in _OTHER.items():
        edited = _retyped(vector, one, other)
        if edited is not None:
            yield title, edited
    yield from _other_outputs(vector, version)


def _other_outputs(vector: Vector, version: Version) -> Iterator[tuple[str, Vector]]:
    """Another type of an output, where another vector has it of inputs of the same types."""
    kinds = [vector.operands[name].type.name for name in vector.operations[0].inputs]
    for header in turns.legal_headers(vector.operation, version):
        for name in vector.outputs:
            kind = header.operands[name].type if name in header.operands else ""
            if kind != vector.operands[name].type.name and kind and _kinds(header) == kinds:
                scale = _SCALE if "QUANT" in kind else 0.0
                output = replace(vector.operands[name], type=OperandType[kind], scale=scale, zero_point=0)
                yield f"type_of_{name}", replace(vector, operands={**vector.operands, name: output})


def _retyped(vector: Vector, one: OperandType, other: OperandType) -> Vector | None:
    """The vector with another type for each operand of one; None where there is none, or constants of floats."""
    chosen = {name: operand for name, operand in vector.operands.items() if operand.type == one}
    constants = {name for name, operand in chosen.items() if operand.value is not None}
    if not chosen or (constants and one == OperandType.TENSOR_FLOAT32) or vector.operation in _OF_ONE_TYPE:
        return None
    operands = {
        name: replace(operand, type=other, value=None if operand.value is None else _converted(operand.value, other))
        for name, operand in chosen.items()
    }
    inputs = {
        name: _converted(array, other) if name in chosen else array for name, array in vector.examples[0].inputs.items()
    }
    return replace(vector, operands={**vector.operands, **operands}, examples=(Example(inputs, {}),))


def _converted(array: Array, other: OperandType) -> Array:
    """The same bytes, or of floats the numbers, in another type."""
    dtype = OPERAND_TYPES[other].dtype
    return array.view(dtype) if array.dtype.itemsize == 1 else array.astype(dtype)
