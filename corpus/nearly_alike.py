"""Vectors that are nearly alike: of one operation and form, with other constants, zero points or orders of arguments.

What a driver knows of a model by a part of it makes one of two such models compute as the other. The expected values
are the oracles'.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

from msgspec.structs import replace

from npu_conformance.corpus import turns
from npu_conformance.corpus.several_shapes import is_simple, opened
from npu_conformance.corpus.vectors import Example, Vector, VectorOperand, VectorOperation
from npu_conformance.specs.neuralnetworks.enums import OperandType
from npu_conformance.specs.versions import Version

if TYPE_CHECKING:
    from npu_conformance.corpus.vectors import Array

_ASYMMETRIC = (OperandType.TENSOR_QUANT8_ASYMM, OperandType.TENSOR_QUANT8_ASYMM_SIGNED)
_CONCATENATED = (*_ASYMMETRIC, OperandType.TENSOR_FLOAT32, OperandType.TENSOR_FLOAT16)
_OF_SOME_VALUES = {"LOG", "RSQRT", "SQRT"}
"""Operations that are not defined for all values, and another zero point may make one of those."""
_MOST = 4
"""So many sets of constants are taken."""


def with_constants(vector: Vector, names: Collection[str]) -> Iterator[Vector]:
    """For some examples of a vector a model that has the values of these inputs as its constants."""
    for example in vector.examples[:_MOST]:
        if not set(names) <= example.inputs.keys():
            continue
        inputs = {name: array for name, array in example.inputs.items() if name not in names}
        fixed = {name: vector.operands[name].with_dimensions(example.inputs[name].shape) for name in names}
        constants = {name: one.with_value(example.inputs[name]) for name, one in fixed.items()}
        results = {name: vector.operands[name].with_dimensions(example.outputs[name].shape) for name in vector.outputs}
        given = {name: vector.operands[name].with_dimensions(array.shape) for name, array in inputs.items()}
        yield replace(
            vector,
            operands={**vector.operands, **given, **constants, **results},
            inputs=tuple(name for name in vector.inputs if name not in names),
            examples=(Example(inputs, example.outputs),),
        )


def with_one_left(vector: Vector, names: Collection[str]) -> Iterator[Vector]:
    """For each of these inputs a model that has the first values of the others as its constants.

    Its examples are those in which the others have these values; there are two at least.
    """
    first = vector.examples[0].inputs
    for name in names:
        others = [one for one in names if one != name and one in first]
        has_others = lambda example: all(_is_same(example.inputs.get(at), first[at]) for at in others)  # noqa: B023, E731
        examples = tuple(filter(has_others, vector.examples))
        if others and len(examples) > 1:
            for fixed in with_constants(replace(vector, examples=examples[:1]), others):
                yield opened(fixed, [_without(one, others) for one in examples])


def _is_same(one: Array | None, other: Array) -> bool:
    return one is not None and one.shape == other.shape and bool((one == other).all())


def _without(example: Example, names: Collection[str]) -> Example:
    return Example({name: array for name, array in example.inputs.items() if name not in names}, example.outputs)


def turned(vector: Vector) -> Iterator[Vector]:
    """The vector that names its inputs, or its outputs, from the last one to the first."""
    if len(vector.inputs) > 1:
        yield replace(vector, inputs=vector.inputs[::-1])
    if len(vector.outputs) > 1:
        yield replace(vector, outputs=vector.outputs[::-1])


def with_a_temporary(vector: Vector) -> Iterator[Vector]:
    """The vector whose operation gets its first input from another one, CONCATENATION of this input alone."""
    import numpy

    name = vector.inputs[0]
    ranks = {one.inputs[name].ndim if name in one.inputs else 0 for one in vector.examples}
    if vector.operands[name].type not in _CONCATENATED or not ranks <= {1, 2, 3, 4}:
        return
    given, axis = f"{name}_given", f"{name}_axis"
    constant = VectorOperand(OperandType.INT32, value=numpy.zeros((), numpy.int32))
    moving = VectorOperation("CONCATENATION", (given, axis), (name,))
    examples = tuple(
        replace(one, inputs={given if at == name else at: array for at, array in one.inputs.items()})
        for one in vector.examples
    )
    yield replace(
        vector,
        operands={**vector.operands, given: vector.operands[name], axis: constant},
        operations=(moving, *vector.operations),
        inputs=(given, *vector.inputs[1:]),
        examples=examples,
    )


def with_other_zero_points(vector: Vector, version: Version) -> Iterator[Vector]:
    """The vector with another zero point of its first input alone, where the operation takes that."""
    name = vector.inputs[0]
    first = vector.operands[name]
    takes_any = vector.operation not in _OF_SOME_VALUES and first.type in _ASYMMETRIC
    if not takes_any or not is_simple(vector) or vector.ignored:
        return
    operand = replace(first, zero_point=first.zero_point ^ 4)
    other = replace(vector, operands={**vector.operands, name: operand})
    if turns.is_legal(other, vector.examples[0].inputs, version):
        yield replace(other, examples=tuple(turns.evaluated(other, one.inputs) for one in vector.examples))
