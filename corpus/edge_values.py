"""Stored vectors with values at the edges of their types, in every operand of data that an operation has.

The expected values are the oracles'. There is no vector where such values break a clause of the operation, where a
result is not finite, or where all of its elements are alike.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING

from msgspec.structs import replace

from npu_conformance.corpus import vectors
from npu_conformance.corpus.vectors import Example, Vector
from npu_conformance.specs.neuralnetworks.enums import OperandType
from npu_conformance.specs.neuralnetworks.extension_codes import AnyOperandType
from npu_conformance.specs.neuralnetworks.operand_types import OPERAND_TYPES
from npu_conformance.specs.versions import Version

if TYPE_CHECKING:
    from npu_conformance.corpus.vectors import Array

_FLOATS = (OperandType.TENSOR_FLOAT32, OperandType.TENSOR_FLOAT16)
_UNSIGNED, _SIGNED = OperandType.TENSOR_QUANT8_ASYMM, OperandType.TENSOR_QUANT8_ASYMM_SIGNED
_QUANTISED = (
    _UNSIGNED,
    _SIGNED,
    OperandType.TENSOR_QUANT8_SYMM,
    OperandType.TENSOR_QUANT8_SYMM_PER_CHANNEL,
    OperandType.TENSOR_QUANT16_SYMM,
    OperandType.TENSOR_QUANT16_ASYMM,
)

UNSUITABLE = frozenset({
    "BOX_WITH_NMS_LIMIT", "DETECTION_POSTPROCESSING", "GENERATE_PROPOSALS",  # shapes of results follow from values
    "ARGMAX", "ARGMIN", "TOPK_V2",  # which of equal elements comes first is open
    "DIV", "LOG", "RSQRT",  # have no finite result at zero; stored vectors are about that
    "RANDOM_MULTINOMIAL",  # has no expected values
    "QUANTIZED_16BIT_LSTM", "QUANTIZED_LSTM",  # the cell state of a device errs by several units there
})  # fmt: skip
"""Operations without such vectors."""

Edge = Callable[[Vector], Iterator[Vector]]
"""The vector with other values: the first that is legal is taken. Nothing where it has no operand that has them."""


def edge_vectors(operation: str, version: Version) -> Iterator[Vector]:
    """For each combination of types, its first vector at each of `EDGES`; their names end in the edge's."""
    for vector in [] if operation in UNSUITABLE else _plain(operation, version):
        for name, edge in EDGES.items():
            candidates = (_expected(changed, version) for changed in edge(vector))
            found = next((judged for judged in candidates if judged is not None), None)
            if found is not None:
                yield replace(found, name=f"{vector.name}.{name}")


def _plain(operation: str, version: Version) -> list[Vector]:
    """The first vector of each combination of types: one operation, general values."""
    firsts: dict[tuple[str, ...], Vector] = {}
    for header in vectors.headers(operation):
        is_legal = header.rejected is None and header.since <= version and header.operations == (operation,)
        if is_legal and not header.relaxed and header.types not in firsts:
            vector = vectors.load(operation, header.name)
            if vector.kind == "general" and len(vector.graphs) == 1:
                firsts[header.types] = vector
    return list(firsts.values())


def _expected(vector: Vector, version: Version) -> Vector | None:
    """The vector with what the oracles find; None where that says little."""
    import numpy

    from npu_conformance.corpus import oracles
    from npu_conformance.corpus.vectors.broken_clauses import broken_clauses

    if broken_clauses(vector, vector.examples[0], version):
        return None
    inputs = vector.examples[0].inputs
    outputs = oracles.evaluate(vector.main, inputs, vector.referenced)
    judged = {name: array for name, array in outputs.items() if name not in vector.ignored}
    is_finite = all(numpy.isfinite(array).all() for array in judged.values())
    if not is_finite or all(_is_even(vector.operands[name].type, array) for name, array in judged.items()):
        return None
    return replace(vector, examples=(Example(inputs, outputs),))


def _is_even(kind: AnyOperandType, array: Array) -> bool:
    """True where all elements are alike, as in saturated results; of truth values that says something all the same."""
    return not array.size or (kind != OperandType.TENSOR_BOOL8 and bool((array == array.flat[0]).all()))


def _valued(
    vector: Vector, types: tuple[OperandType, ...], edges: Callable[[Array], tuple[float, float]]
) -> Iterator[Vector]:
    """Two of three elements of all tensors of these types are edges, in turn; the others stay.

    Where one operand has the first edge, the next has the second.
    """
    chosen = [name for name, one in vector.operands.items() if one.type in types and OPERAND_TYPES[one.type].is_tensor]

    def changed(name: str, array: Array) -> Array:
        if name not in chosen:
            return array
        result, turn = array.copy(), chosen.index(name) % 2
        result.reshape(-1)[turn::3], result.reshape(-1)[1 - turn :: 3] = edges(array)
        return result

    if chosen:
        inputs = {name: changed(name, array) for name, array in vector.examples[0].inputs.items()}
        operands = {
            name: one if one.value is None else replace(one, value=changed(name, one.value))
            for name, one in vector.operands.items()
        }
        yield replace(vector, operands=operands, examples=(Example(inputs, {}),))


def _zeros(vector: Vector) -> Iterator[Vector]:
    return _valued(vector, _FLOATS, lambda array: (-0.0, 0.0))


def _extremes(vector: Vector) -> Iterator[Vector]:
    import numpy

    return _valued(vector, _QUANTISED, lambda array: (numpy.iinfo(array.dtype).min, numpy.iinfo(array.dtype).max))


def _with_zero_points(vector: Vector, zero_points: Mapping[AnyOperandType, int]) -> Iterator[Vector]:
    """Tensors of these types have these zero points: all, or inputs alone where the operation fixes its results'."""
    for kept in ((), vector.outputs):
        changed = {
            name: replace(one, zero_point=zero_points[one.type])
            for name, one in vector.operands.items()
            if one.type in zero_points and name not in kept
        }
        if changed:
            yield replace(vector, operands={**vector.operands, **changed})


EDGES: Mapping[str, Edge] = {
    "zeros": _zeros,
    "extremes": _extremes,
    "lowest_zero_points": partial(_with_zero_points, zero_points={_UNSIGNED: 0, _SIGNED: -128}),
    "highest_zero_points": partial(_with_zero_points, zero_points={_UNSIGNED: 255, _SIGNED: 127}),
}
"""What is changed, by name."""
