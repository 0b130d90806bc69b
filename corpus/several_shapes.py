"""One model for several shapes: stored vectors of an operation that differ in the shapes of their tensors alone.

Where no two vectors of the same types do, an operation that works on each batch by itself gets a second shape of twice
as many batches, whose inputs and outputs are those of the vector twice. The expected values are the stored ones either
way.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace

from npu_conformance.corpus import vectors
from npu_conformance.corpus.vectors import Example, Vector, VectorOperand
from npu_conformance.specs.versions import Version

if TYPE_CHECKING:
    from npu_conformance.corpus.vectors import Array

BATCHED = frozenset({
    "AVERAGE_POOL_2D", "BIDIRECTIONAL_SEQUENCE_LSTM", "BIDIRECTIONAL_SEQUENCE_RNN", "CAST", "CONV_2D",
    "DEPTHWISE_CONV_2D", "DEQUANTIZE", "FULLY_CONNECTED", "GROUPED_CONV_2D", "L2_POOL_2D",
    "LOCAL_RESPONSE_NORMALIZATION", "LSTM", "MAX_POOL_2D", "QUANTIZE", "QUANTIZED_16BIT_LSTM", "QUANTIZED_LSTM",
    "RESIZE_BILINEAR", "RESIZE_NEAREST_NEIGHBOR", "RNN", "SVDF", "TRANSPOSE_CONV_2D", "UNIDIRECTIONAL_SEQUENCE_LSTM",
    "UNIDIRECTIONAL_SEQUENCE_RNN",
})  # fmt: skip
"""Operations that compute each index of dimension 0 of their inputs by itself."""

_FIXED = {"axis", "output_shape"}
"""Operands that may say something of dimension 0."""

_WEIGHTS = ("weights", "filter", "bias", "_to_")
"""Words in the names of inputs whose dimension 0 is no batch."""


def several_shapes(operation: str, version: Version) -> list[Vector]:
    """Vectors with an example for each of two shapes, and with 0 for each size in which these differ."""
    legal = [one for one in vectors.headers(operation) if one.rejected is None and one.since <= version]
    stored = [vector for one in legal if is_simple(vector := vectors.load(operation, one.name))]
    alike: defaultdict[Hashable, list[Vector]] = defaultdict(list)
    for vector in stored:
        alike[_without_shapes(vector)].append(vector)
    found = [opened(group[0], pair) for group in alike.values() if (pair := _two_shapes(group))]
    if operation in BATCHED:
        types = {one.name: one.types for one in legal}
        covered = {types[one.name] for one in found}
        others = [one for one in reversed(stored) if types[one.name] not in covered and _has_batch(one)]
        firsts = {types[one.name]: one for one in others}
        found += [opened(one, [one.examples[0], _twice(one)]) for one in firsts.values()]
    return found


def is_simple(vector: Vector) -> bool:
    """One graph of one operation on general values, and nothing without elements."""
    arrays = [array for one in vector.examples for array in (*one.inputs.values(), *one.outputs.values())]
    is_whole = bool(vector.examples) and all(array.size for array in arrays)
    return is_whole and len(vector.graphs) == len(vector.operations) == 1 and vector.kind == "general"


def _without_shapes(vector: Vector) -> Hashable:
    """Everything of a vector but the sizes of its inputs and outputs."""
    border = {*vector.inputs, *vector.outputs}
    operands = tuple(
        (name, _form(operand), len(operand.dimensions) if name in border else operand.dimensions)
        for name, operand in vector.operands.items()
    )
    border_order = tuple(vector.inputs), tuple(vector.outputs)
    return operands, border_order, vector.operations, vector.relaxed, tuple(vector.ignored)


def _form(operand: VectorOperand) -> Hashable:
    value = None if operand.value is None else operand.value.tobytes()
    return operand.type, operand.scale, operand.zero_point, operand.channel_quant, operand.omitted, value


def _two_shapes(group: Sequence[Vector]) -> list[Example]:
    """The examples with the smallest and the largest outputs; none where all have the same shapes."""
    by_shape = {_shapes(example): example for vector in group for example in vector.examples[:1]}
    ordered = sorted(by_shape.values(), key=_elements)
    return [ordered[0], ordered[-1]] if len(ordered) > 1 else []


def _elements(example: Example) -> int:
    return sum(array.size for array in example.outputs.values())


def _shapes(example: Example) -> Hashable:
    return tuple((name, array.shape) for name, array in example.inputs.items())


def _has_batch(vector: Vector) -> bool:
    """True where dimension 0 of every input and output is the batch, and of nothing else."""
    border = {name: vector.operands[name] for name in (*vector.inputs, *vector.outputs)}
    major = vector.operands.get("time_major")
    is_by_time = major is not None and (major.value is None or bool(major.value))
    constant = (name for name, operand in vector.operands.items() if operand.value is not None and operand.dimensions)
    return not (
        is_by_time
        or _FIXED & set(vector.operands)
        or any("state" in name for name in constant)
        or any(word in name for name in vector.inputs for word in _WEIGHTS)
        or any(len(operand.dimensions) < 2 or _has_scales(operand) for operand in border.values())
    )


def _has_scales(operand: VectorOperand) -> bool:
    """True where each index of dimension 0 has a scale of its own."""
    return operand.channel_quant is not None and operand.channel_quant.channel_dim == 0


def _twice(vector: Vector) -> Example:
    import numpy

    def twice(array: Array) -> Array:
        return numpy.concatenate([array, array])

    first = vector.examples[0]
    inputs = {name: twice(array) for name, array in first.inputs.items()}
    return Example(inputs, {name: twice(array) for name, array in first.outputs.items()})


def opened(vector: Vector, examples: Sequence[Example]) -> Vector:
    """The vector with these examples, whose model leaves open what is not the same in all of them."""
    operands = dict(vector.operands)
    for name in (*vector.inputs, *vector.outputs):
        shapes = [tuple(_arrays(one)[name].shape) for one in examples if name in _arrays(one)]
        if shapes and operands[name].dimensions:
            operands[name] = replace(operands[name], dimensions=_common(shapes))
    return replace(vector, operands=operands, examples=tuple(examples))


def _common(shapes: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
    """The sizes that all shapes have, with 0 for one in which they differ; none where they differ in rank."""
    if len({len(shape) for shape in shapes}) > 1:
        return ()
    return tuple(axis[0] if len(set(axis)) == 1 else 0 for axis in zip(*shapes, strict=True))


def _arrays(example: Example) -> dict[str, Array]:
    return {**example.inputs, **example.outputs}
