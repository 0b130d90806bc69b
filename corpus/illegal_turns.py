"""One model for legal and illegal requests: what its sizes and values leave open breaks the operation's rules in some.

The models are those of stored vectors, with more of their operands as inputs. The first example is the stored one; the
others differ from it in one input and are to be refused, for a clause that every implementation has to keep.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace

from npu_conformance.corpus import variations, vectors
from npu_conformance.corpus.other_parameters import asking_for_parameters
from npu_conformance.corpus.several_shapes import is_simple, opened
from npu_conformance.corpus.turns import DATA, legal_headers
from npu_conformance.corpus.variations import allowed
from npu_conformance.corpus.vector_types import ANDROID
from npu_conformance.corpus.vectors import Example, Vector, VectorHeader
from npu_conformance.corpus.wire_model import wire_operand
from npu_conformance.specs.neuralnetworks import catalogue, rules
from npu_conformance.specs.neuralnetworks.enums import OperandLifeTime
from npu_conformance.specs.neuralnetworks.operation_view import OperationView
from npu_conformance.specs.neuralnetworks.types import Operation
from npu_conformance.specs.neuralnetworks.validate import check_operation
from npu_conformance.specs.versions import Version

if TYPE_CHECKING:
    from npu_conformance.corpus.vectors import Array

_MOST = 8
"""So many illegal requests are made of one model; each is of another input, as far as there are so many."""

_STEPS = (1, 2, 3, 4, 5, 6, 8, 100)
"""How far a value is changed, until it is illegal."""

_FATAL = {
    ("BIDIRECTIONAL_SEQUENCE_RNN", "activation"),
    ("MEAN", "axes"),
    ("RNN", "activation"),
    ("UNIDIRECTIONAL_SEQUENCE_RNN", "activation"),
}
"""Parameters out of whose range AOSP's driver dies, a defect of its own; stored vectors ask for those that matter."""

Arrays = Iterator[Iterator["Array"]]
"""The arrays that an input may have instead, of each kind."""


def illegal_shapes(operation: str, version: Version) -> list[Vector]:
    """Vectors with a legal example, and others in which one input has another size, or others of as many elements.

    Those of the first floats and of the first quantised type: as stored, and with all tensors as inputs.
    """
    return [
        _of_any_result(one) for vector in _stored(operation, version) for one in _with_illegal_shapes(vector, version)
    ]


def illegal_values(operation: str, version: Version) -> list[Vector]:
    """Vectors with a legal example, and others in which one element of a parameter or an index is out of its range."""
    asking = (_asking(vector) for vector in _stored(operation, version))
    return [_of_any_result(made) for vector in asking for made in _turned(vector, version, _other_values)]


def _asking(vector: Vector) -> Vector:
    """The vector whose parameters come with the request."""
    asking, (legal,) = asking_for_parameters(vector), vector.examples
    values = {name: value for name in asking.inputs if (value := vector.operands[name].value) is not None}
    return replace(asking, examples=(replace(legal, inputs={**legal.inputs, **values}),))


def left_out(operation: str, version: Version) -> list[Vector]:
    """Vectors with a legal example, and others that leave out one input that every request has to give."""
    return [made for vector in _stored(operation, version) for made in _lacking(_all_given(vector, version))]


def _stored(operation: str, version: Version) -> Iterator[Vector]:
    """The first simple vector of floats, and the first one of a quantised type, with its first example."""
    met = set()
    for header in sorted(legal_headers(operation, version), key=_is_flat):
        is_quantised = any("QUANT" in one.type for one in header.operands.values())
        if is_quantised not in met and header.operations == (operation,):
            vector = vectors.load(operation, header.name)
            if is_simple(vector):
                met.add(is_quantised)
                yield replace(vector, examples=vector.examples[:1])


def _is_flat(header: VectorHeader) -> bool:
    """True where no input has two sizes that may differ, as those of a concatenation must not."""
    return all(len(one.dimensions) < 2 for one in header.operands.values() if one.role == "input")


def _all_given(vector: Vector, version: Version) -> Vector:
    header = allowed.header_of(vector)
    if allowed.applicable(header).get("all_tensors_as_inputs", header.since) > version:
        return vector
    return variations.apply("all_tensors_as_inputs", vector) or vector


def _with_illegal_shapes(vector: Vector, version: Version) -> Iterator[Vector]:
    whole = _all_given(vector, version)
    for one in [vector, whole] if whole.inputs != vector.inputs else [vector]:
        yield from _turned(one, version, _other_shapes)


def _of_any_result(vector: Vector) -> Vector:
    """The vector without the sizes of its outputs."""
    outputs = {
        name: vector.operands[name].with_dimensions((0,) * len(vector.operands[name].dimensions))
        for name in vector.outputs
    }
    return replace(vector, operands={**vector.operands, **outputs})


def _turned(vector: Vector, version: Version, others: Callable[[Vector, str], Arrays]) -> Iterator[Vector]:
    """The vector with its illegal examples, if it has any. others: of each kind, the arrays that an input may have."""
    legal, must = vector.examples[0], _kept_by_all(vector.operation)
    if broken(vector, legal.inputs, version):
        return
    found = [
        example
        for name in vector.inputs
        for kind in others(vector, name)
        if (example := _first_refused(vector, name, kind, version, must))
    ]
    if found:
        chosen = _spread(found)
        yield replace(opened(vector, [legal, *chosen]), examples=(legal, *chosen))


def _spread(found: Sequence[Example]) -> list[Example]:
    """No more than _MOST of them, from the first on."""
    count = min(len(found), _MOST)
    return [found[at * len(found) // count] for at in range(count)]


def _first_refused(
    vector: Vector, name: str, arrays: Iterator[Array], version: Version, must: set[str]
) -> Example | None:
    """The legal example with the first of the arrays that breaks a clause; None where each is legal."""
    given = ({**vector.examples[0].inputs, name: array} for array in arrays)
    return next((Example(one, {}) for one in given if must.intersection(broken(vector, one, version))), None)


def _kept_by_all(operation: str) -> set[str]:
    """The clauses of an operation that every implementation has to keep, and of which none is known that does not."""
    taken = {one.rejected.clause for one in vectors.headers(operation) if one.rejected and ANDROID in one.taken_by}
    return {one.id for one in rules.clauses(operation) if one.basis == "both"} - taken


def broken(vector: Vector, inputs: Mapping[str, Array], version: Version) -> list[str]:
    """The clauses that the one operation of a vector breaks with these inputs."""
    (step,) = vector.operations
    operands = [vector.operands[name] for name in step.inputs]
    values = {name: inputs.get(name, vector.operands[name].value) for name in step.inputs}
    known = {at: value for at, name in enumerate(step.inputs) if (value := values[name]) is not None}
    count = len(step.inputs)
    view = OperationView(
        Operation(
            catalogue.operation_code(step.type), tuple(range(count)), tuple(range(count, count + len(step.outputs)))
        ),
        version,
        [wire_operand(one, OperandLifeTime.SUBGRAPH_INPUT) for one in operands],
        [
            wire_operand(vector.operands[name].with_dimensions(()), OperandLifeTime.SUBGRAPH_OUTPUT)
            for name in step.outputs
        ],
        shapes={at: value.shape for at, value in known.items()},
        values=known,
        omitted=frozenset(range(count)) - known.keys(),
    )
    return [one.clause for one in check_operation(view)]


def _other_shapes(vector: Vector, name: str) -> Arrays:
    """Of a tensor: one of its sizes is larger, from the last one on; one is smaller; the same ones in another order."""
    import numpy

    operand, array = vector.operands[name], vector.examples[0].inputs.get(name)
    if array is None or not array.ndim or operand.channel_quant is not None:
        return
    shape = array.shape
    axes = range(array.ndim)[::-1]
    larger = [(*shape[:axis], shape[axis] + 1, *shape[axis + 1 :]) for axis in axes]
    smaller = [(*shape[:axis], shape[axis] - 1, *shape[axis + 1 :]) for axis in axes if shape[axis] > 1]
    turned = [one for one in itertools.permutations(shape) if one != shape] if array.ndim < 5 else []
    for kind in (larger, turned, smaller):
        yield (numpy.resize(array, one) for one in kind)


def _other_values(vector: Vector, name: str) -> Arrays:
    """Of integers that are no data: the last element is larger than before, or the first one smaller."""
    array, operand = vector.examples[0].inputs.get(name), vector.operands[name]
    if array is None or operand.type.name in DATA or "bias" in name or array.dtype.kind != "i":
        return
    if (vector.operation, name) in _FATAL:
        return
    yield _with_element(array, -1, _STEPS)
    yield _with_element(array, 0, [-step for step in _STEPS])


def _with_element(array: Array, at: int, steps: Sequence[int]) -> Iterator[Array]:
    """The array with another element, which is not 0: AOSP's driver divides by blocks and strides before it looks."""
    import numpy

    limits, old = numpy.iinfo(array.dtype), int(array.reshape(-1)[at])
    for value in (old + step for step in steps):
        if value and limits.min <= value <= limits.max:
            changed = array.copy()
            changed.reshape(-1)[at] = value
            yield changed


def _lacking(vector: Vector) -> Iterator[Vector]:
    """The vector with examples that lack one required tensor."""
    (step,), legal = vector.operations, vector.examples[0]
    types = tuple(vector.operands[name].type for name in step.inputs)
    arguments = catalogue.reading(step.type, types).arguments
    names = [
        name
        for name, argument in zip(step.inputs, arguments, strict=False)
        if name in legal.inputs and not argument.optional
    ]
    if names:
        others = [Example({one: array for one, array in legal.inputs.items() if one != name}, {}) for name in names]
        yield replace(vector, examples=(legal, *_spread(others)))
