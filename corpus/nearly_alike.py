"""Vectors that are nearly alike: of one operation and form, with other constants, zero points or orders of arguments.

What a driver knows of a model by a part of it makes one of two such models compute as the other. The expected values
are the oracles'.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING

from msgspec.structs import replace

from npu_conformance.corpus import turns, variations
from npu_conformance.corpus.several_shapes import is_simple, opened
from npu_conformance.corpus.vectors import Example, Vector, VectorOperand, VectorOperation
from npu_conformance.specs.neuralnetworks.enums import OperandType
from npu_conformance.specs.versions import Version

if TYPE_CHECKING:
    from npu_conformance.corpus.vectors import Array

ASYMMETRIC = (OperandType.TENSOR_QUANT8_ASYMM, OperandType.TENSOR_QUANT8_ASYMM_SIGNED)
_CONCATENATED = (*ASYMMETRIC, OperandType.TENSOR_FLOAT32, OperandType.TENSOR_FLOAT16)
OF_SOME_VALUES = {"LOG", "RSQRT", "SQRT"}
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


def relaxed_twin(vector: Vector, version: Version) -> Iterator[Vector]:
    """The vector as a model that may compute in half floats, where the strict one lives beside it."""
    twin = variations.apply("relaxed", vector)
    if twin is not None and twin.since <= version:
        yield twin


def with_temporaries(vector: Vector) -> Iterator[Vector]:
    """The vector between two operations: CONCATENATION of its first input alone, and of its first output alone."""
    made = vector
    for name, is_input in ((vector.inputs[0], True), (vector.outputs[0], False)):
        if not _may_be_moved(vector, name):
            return
        made = _moved(made, name, is_input=is_input)
    yield made


def _may_be_moved(vector: Vector, name: str) -> bool:
    """True where CONCATENATION takes an argument in each example, none of which leaves it out or empty."""
    arrays = [{**one.inputs, **one.outputs}.get(name) for one in vector.examples]
    is_taken = vector.operands[name].type in _CONCATENATED and name not in vector.ignored
    return is_taken and all(one is not None and 1 <= one.ndim <= 4 and one.size for one in arrays)


def _moved(vector: Vector, name: str, *, is_input: bool) -> Vector:
    """The vector with a temporary in place of an input or output, which CONCATENATION moves from or to the outside."""
    import numpy

    outside, axis = f"{name}_outside", f"{name}_axis"
    constant = VectorOperand(OperandType.INT32, value=numpy.zeros((), numpy.int32))
    source, target = (outside, name) if is_input else (name, outside)
    moving = VectorOperation("CONCATENATION", (source, axis), (target,))

    def renamed(names: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(outside if one == name else one for one in names)

    def moved(arrays: Mapping[str, Array]) -> dict[str, Array]:
        return {outside if at == name else at: array for at, array in arrays.items()}

    return replace(
        vector,
        operands={**vector.operands, outside: vector.operands[name], axis: constant},
        operations=(moving, *vector.operations) if is_input else (*vector.operations, moving),
        inputs=renamed(vector.inputs),
        outputs=renamed(vector.outputs),
        examples=tuple(Example(moved(one.inputs), moved(one.outputs)) for one in vector.examples),
    )


def with_other_zero_points(vector: Vector, version: Version) -> Iterator[Vector]:
    """The vector with another zero point of one input or constant alone, where the operation takes that."""
    if vector.operation in OF_SOME_VALUES or not is_simple(vector) or vector.ignored:
        return
    given = [name for name, one in vector.operands.items() if name in vector.inputs or one.value is not None]
    for name in [one for one in given if vector.operands[one].type in ASYMMETRIC][:_MOST]:
        operand = replace(vector.operands[name], zero_point=vector.operands[name].zero_point ^ 4)
        other = replace(vector, operands={**vector.operands, name: operand})
        if turns.is_legal(other, vector.examples[0].inputs, version):
            yield replace(other, examples=tuple(turns.evaluated(other, one.inputs) for one in vector.examples))
