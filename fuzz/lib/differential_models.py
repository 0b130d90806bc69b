"""Models with one request as inputs: files of one vector, drawn, joined to graphs, and changed by the rules.

An input says everything: replaying needs no seed, and `run --vectors` takes it as it is.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from typing import TYPE_CHECKING, Any

import msgspec
import numpy
from msgspec.structs import replace

from npu_conformance.corpus import random_graphs, strategies, vectors
from npu_conformance.corpus.random_graphs import GraphRecipe, official, results
from npu_conformance.corpus.random_graphs.shrinking import cut, data_of, over, smaller, values_of
from npu_conformance.corpus.strategies import Unfit
from npu_conformance.corpus.vectors import Example, Vector, loading, writing
from npu_conformance.fuzz.lib.choices import Choices
from npu_conformance.fuzz.lib.model_mutator import headers
from npu_conformance.specs.documents import DocumentError
from npu_conformance.specs.documents.vectors import VectorFile
from npu_conformance.specs.neuralnetworks import catalogue
from npu_conformance.specs.neuralnetworks.enums import OperandType
from npu_conformance.specs.neuralnetworks.validate import reads_data
from npu_conformance.specs.versions import Version

if TYPE_CHECKING:
    from npu_conformance.corpus.vectors import Array

LARGEST_SEED = 1 << 13
"""Bytes of a model to begin with: small ones are tried more often in the same time."""
_GRAPHS, _LARGEST_GRAPH = 12, 6
"""Graphs to begin with, and operations of a graph."""
_ANYTHING = 4
"""One in so many fresh models is of operations that the implementation need not support."""
_PIECES = 80
_CUT = 10
"""The mutation that leaves an operation out."""
_AS_DRAWN = {
    "ROI_ALIGN",
    "ROI_POOLING",
    "HEATMAP_MAX_KEYPOINT",
    "AXIS_ALIGNED_BBOX_TRANSFORM",
    "QUANTIZED_16BIT_LSTM",
}
"""Operations that stay as they were drawn: boxes have to lie within an image, as no rule says that is asked here, and
the bounds know nothing of how far the fixed point inside of a 16-bit LSTM may be off where weights are extreme."""
_EXACT = {
    "ADD", "SUB", "MAXIMUM", "MINIMUM", "NEG", "ABS", "SELECT", "EQUAL", "NOT_EQUAL", "LESS", "LESS_EQUAL", "GREATER",
    "GREATER_EQUAL",
}  # fmt: skip
"""Operations whose int32 results have every bit, however large, as long as none wraps."""
_LARGEST_EXACT = 1 << 29
_INTEGERS = (0, 1, -1, (1 << 24) + 1, -(1 << 24) - 1, (1 << 16) + 1, 1 << 28, -(1 << 28))
"""Of int32: those that a float, or fewer bits, do not hold among them."""
_NO_VECTOR = (DocumentError, msgspec.MsgspecError, ValueError, LookupError, ArithmeticError)
"""What reading, cutting and computing raise where there is no such model."""


def encoded(vector: Vector) -> bytes:
    """A vector as an input: a file of vectors with this one alone."""
    return writing.text(vector.operation, [writing.document_of(vector)]).encode()


def decoded(data: bytes) -> Vector | None:
    """The vector of an input; None where it is none with values."""
    try:
        file = msgspec.json.decode(data, type=VectorFile)
        vector = loading.vector(file.operation, file.vectors[0], "input")
    except _NO_VECTOR:
        return None
    return vector if vector.examples and not vector.rejected and vector.operations else None


def with_values(vector: Vector) -> Vector | None:
    """The vector with expected values by the oracles; None where some value is not finite, or too large."""
    try:
        values = values_of(vector)
        for name, array in values.items():
            _check_magnitude(vector, name, array)
    except (Unfit, *_NO_VECTOR):
        return None
    example = vector.examples[0]
    return replace(vector, examples=(Example(example.inputs, {name: values[name] for name in vector.outputs}),))


def _check_magnitude(vector: Vector, name: str, array: Array) -> None:
    """Raises Unfit where numbers are too large; between operations that are exact an int32 may be larger than usual."""
    if array.dtype != numpy.int32 or not _is_exact(vector):
        results.check_magnitude(name, array)
    elif bool((numpy.abs(array.astype(numpy.int64)) > _LARGEST_EXACT).any()):
        raise Unfit(f"{name} has elements beyond {_LARGEST_EXACT}")


def _is_exact(vector: Vector) -> bool:
    return all(one.type in _EXACT for one in vector.operations)


def seeds(version: Version, *, with_stored: bool) -> list[bytes]:
    """A drawn model of each operation, some graphs, and small stored vectors of each operation."""
    drawn = [one for name in _operations(version) for one in islice(_draws(name, version), 1)]
    graphs = [graph for seed in range(_GRAPHS) if (graph := _graph(Choices.seeded(seed), version, {})) is not None]
    stored = [one for one in _stored(version) if with_values(one) is not None] if with_stored else []
    return [data for data in map(encoded, (*drawn, *graphs, *stored)) if len(data) <= LARGEST_SEED]


def _operations(version: Version) -> list[str]:
    return [name for name in official.operations() if strategies.forms(version, name)]


def _draws(operation: str, version: Version) -> Iterator[Vector]:
    """Models of one operation, from fixed choices."""
    for seed in range(20):
        found = _drawn(Choices.seeded(seed), version, operation)
        if found is not None:
            yield found


def _drawn(choices: Choices, version: Version, operation: str, types: Sequence[str] = ()) -> Vector | None:
    """A model of one operation, in a form that has such types where one does."""
    forms = strategies.forms(version, operation)
    fitting = [form for form in forms if set(types) & set(form.types.values())] or forms
    try:
        drawn = strategies.draw(choices.pick(fitting), version, choices)
    except Unfit:
        return None
    ignored = tuple(name for place, name in enumerate(drawn.outputs) if results.is_ignored(operation, place))
    return with_values(replace(drawn, ignored=ignored))


def _drawn_of_integers(choices: Choices, version: Version) -> Vector | None:
    """A model of int32 with elements of any size: in float32, or in fewer bits, they are others."""
    exact = [name for name in _operations(version) if name in _EXACT]
    vector = _drawn(choices, version, choices.pick(exact), ("TENSOR_INT32",))
    edited = None if vector is None else _with_other_values(vector, choices)
    return vector if edited is None else with_values(edited) or vector


def _graph(choices: Choices, version: Version, supported: Supported) -> Vector | None:
    taken = set().union(*supported.values())
    known = [(kind,) for kind, since in official.TYPES.values() if since <= version and (not taken or kind in taken)]
    types = choices.pick(((), *known))
    operations = tuple(sorted(name for name in supported if not types or types[0] in supported[name]))
    size = 1 + choices.below(_LARGEST_GRAPH)
    recipe = GraphRecipe(size=size, version=version, types=types, operations=operations)
    try:
        return random_graphs.graph(choices.below(65536), recipe)
    except LookupError:
        return None


def _stored(version: Version) -> Iterator[Vector]:
    for header in headers(version, one_each=True):
        if header.rejected is None and header.operation in official.operations():
            yield vectors.load(header.operation, header.name)


Supported = Mapping[str, Collection[str]]
"""The operations that an implementation has taken, with the types of tensors of each."""


def mutated(data: bytes, choices: Choices, version: Version, supported: Supported) -> bytes:
    """Another model: a fresh one or graph, or one with other values, parameters, sizes, or fewer operations.

    supported: of these operations fresh ones are mostly made, unless they are most of all that there are.
    """
    kind, vector = choices.below(12), decoded(data)
    operations = _operations(version)
    known = supported if len(supported) * 2 < len(operations) and choices.below(_ANYTHING) else {}
    made: Vector | None
    if kind < 3 or vector is None:
        made = _graph(choices, version, known)
    elif kind == 3:
        made = _drawn(choices, version, choices.pick(sorted(known) or operations))
    elif kind == 4:
        made = _drawn_of_integers(choices, version)
    else:
        edited = _edited(vector, choices, kind)
        made = None if edited is None else with_values(edited)
    return data if made is None else encoded(made)


def _edited(vector: Vector, choices: Choices, kind: int) -> Vector | None:
    try:
        if kind == _CUT or _stays_as_drawn(vector):
            return _without_one(vector, choices)
        if kind < 9:
            return _with_other_values(vector, choices)
        if kind == 9:
            return _with_other_parameter(vector, choices)
        return next(islice(smaller(vector), choices.below(8), None), None)
    except _NO_VECTOR:
        return None


def _without_one(vector: Vector, choices: Choices) -> Vector | None:
    """The graph without one of its operations."""
    if len(vector.operations) == 1:
        return None
    left = choices.below(len(vector.operations))
    return cut(vector, [*vector.operations[:left], *vector.operations[left + 1 :]])


def _with_other_values(vector: Vector, choices: Choices) -> Vector | None:
    """Elements of one tensor changed, where no rule looks at them."""
    given, is_exact = data_of(vector), _is_exact(vector)
    tensors = {name: one for name, one in given.items() if one.size and (is_exact or one.dtype != numpy.int32)}
    if not tensors or any(reads_data(catalogue.operation_code(one.type)) for one in vector.operations):
        return None
    name = choices.pick(sorted(tensors))
    return next(over(vector, {name: _elements(tensors[name], choices)}), None)


def _stays_as_drawn(vector: Vector) -> bool:
    return any(one.type in _AS_DRAWN for one in vector.operations)


_FLOATS = (0.0, -0.0, 1.0, -1.0, 0.5, 2.5, -2.5, 6.0, 6.5, 100.0, -100.0, 1e-3, 2.0**-12, 2049.0)
"""None is so small that its square is none: what L2_NORMALIZATION makes of that no document says."""


def _elements(array: Array, choices: Choices) -> Array:
    kind, changed = choices.below(4), array.copy()
    if array.dtype == numpy.bool_:
        return ~array
    if array.dtype.kind == "f":
        value: Any = choices.pick(_FLOATS)
    elif array.dtype == numpy.int32:
        value = choices.pick(_INTEGERS)
    else:
        limits = numpy.iinfo(array.dtype)
        value = choices.pick((limits.min, limits.max, 0, 1, limits.max // 2))
    if kind == 0:
        changed.flat[choices.below(array.size)] = value
    elif kind == 1:
        changed[...] = value
    elif kind == 2:
        changed = array.reshape(-1)[::-1].reshape(array.shape).copy()
    elif array.dtype.kind == "f":
        changed = (array * array.dtype.type(choices.pick((-1.0, 0.25, 8.0)))).astype(array.dtype)
    return changed


def _with_other_parameter(vector: Vector, choices: Choices) -> Vector | None:
    """Another value of a scalar that is a constant: an activation, an axis, a stride.

    Negative ones only where they count from the end: of a negative radius or exponent no document says what it means.
    """
    scalars = [
        name for name, operand in vector.operands.items() if operand.value is not None and not operand.dimensions
    ]
    if not scalars:
        return None
    name = choices.pick(scalars)
    value = vector.operands[name].value
    assert value is not None
    least = -2 if "axis" in name else 0
    is_bool = vector.operands[name].type is OperandType.BOOL
    other: Any = not value if is_bool else least + choices.below(4 - least)
    return next(over(vector, {name: numpy.asarray(other, value.dtype)}), None)


def pieces(data: bytes) -> Iterator[bytes]:
    """Fewer operations and outputs, smaller tensors, plainer values."""
    vector = decoded(data)
    if vector is None:
        return
    count = len(vector.operations)
    with suppress(*_NO_VECTOR):
        for one in islice(smaller(vector), _PIECES):
            if not _stays_as_drawn(one) or len(one.operations) < count:
                yield encoded(one)


def features(vector: Vector) -> Iterator[str]:
    """What tells one model from others: operations with their types and ranks, and which reads which."""
    writer = {name: one.type for one in vector.operations for name in one.outputs}
    for one in vector.operations:
        read: Sequence[str] = one.inputs[:3]
        operands = [vector.operands[name] for name in read]
        yield f"{one.type} {','.join(operand.type.name for operand in operands)}"
        yield f"{one.type} {','.join(str(len(operand.dimensions)) for operand in operands)}"
        for name in read:
            if name in writer:
                yield f"{writer[name]}>{one.type}"
